package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/internal/tlsfile"
)

// monitored starts hushgrad serve and returns the address of its monitor, and run's addresses.
func monitored(t *testing.T, args ...string) (monitor string, addresses []string) {
	t.Helper()
	var out log
	addresses = runLogging(t, &out, append([]string{"--metrics-listen", "127.0.0.1:0"}, args...)...)
	return out.monitor(t), addresses
}

// page returns the status and the text of a page.
func page(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestTheMonitorSaysHowTheServerIs(t *testing.T) {
	monitor, addresses := monitored(t)
	for _, address := range addresses {
		_ = openOn(t, address, insecure.NewCredentials()) // works on one of them
	}
	for path, want := range map[string]string{
		"/healthz": "alive\n", "/readyz": "ready\n", "/metrics": `hushgrad_rounds{state="open"} 1`,
	} {
		if code, text := page(t, http.DefaultClient, "http://"+monitor+path); code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, %q, want %q", path, code, text, want)
		}
	}
	if code, _ := page(t, http.DefaultClient, "http://"+monitor+"/debug/pprof/"); code != http.StatusNotFound {
		t.Errorf("another page: %d", code)
	}
}

// Idle connections, as many as there may be and more, keep nobody from the pages of a server, and so no
// container from its health check.
func TestIdleConnectionsLockNobodyOut(t *testing.T) {
	shown := freeAddress(t)
	monitor, _ := monitored(t, "--dashboard", shown)
	for _, address := range []string{monitor, shown} {
		for range 3 * maxReaders {
			idle, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer idle.Close()
		}
	}
	client := &http.Client{Timeout: 20 * time.Second}
	for url, want := range map[string]string{
		"http://" + monitor + "/readyz": "ready\n", "http://" + monitor + "/metrics": "hushgrad_rounds", "http://" + shown + "/": "<html",
	} {
		if code, text := page(t, client, url); code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, %.80q, want %q", url, code, text, want)
		}
	}
	if text := do(t, "health", "--server", monitor); text != "ready\n" {
		t.Errorf("hushgrad health printed %q", text)
	}
}

// What is wrong is said in words, with the code that load balancers look at.
func TestTheMonitorSaysWhatIsWrong(t *testing.T) {
	m := monitoring{address: "127.0.0.1:0"}
	monitor, err := m.listen(prometheus.NewRegistry(), func() error { return errors.New("the disk is full") }, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	go monitor.serve()
	defer monitor.close()
	base := "http://" + monitor.listener.Addr().String()
	if code, text := page(t, http.DefaultClient, base+"/readyz"); code != http.StatusServiceUnavailable || text != "not ready: the disk is full\n" {
		t.Errorf("/readyz: %d, %q", code, text)
	}
	if code, _ := page(t, http.DefaultClient, base+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d", code)
	}
}

// Figures tell when a client submits, so that other machines need a certificate to see them.
func TestTheMonitorIsForItsReaders(t *testing.T) {
	for _, c := range []struct {
		args []string
		ok   bool
	}{
		{[]string{"--metrics-listen", ":0"}, false},
		{[]string{"--metrics-listen", ":0", "--insecure"}, false},
		{[]string{"--metrics-ca", "ca.pem", "--metrics-name", "*", "--tls-cert", "c", "--tls-key", "k"}, false},
		{[]string{"--metrics-listen", ":0", "--metrics-ca", "ca.pem", "--tls-cert", "c", "--tls-key", "k"}, false},
		{[]string{"--metrics-listen", ":0", "--metrics-ca", "ca.pem", "--metrics-name", "a", "--tls-cert", "c", "--tls-key", "k"}, true},
	} {
		if err := parse("serve", &serveFlags{}, c.args...); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "--metrics-") {
			t.Errorf("%v: error %v, want accepted: %t", c.args, err, c.ok)
		}
	}
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair, pool := selfSigned(t, cert, key) // for test
	for name, ok := range map[string]bool{"test": true, "other": false} {
		monitor, _ := monitored(t, "--tls-cert", cert, "--tls-key", key, "--metrics-ca", cert, "--metrics-name", name)
		for _, shows := range [][]tls.Certificate{{pair}, nil} {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: shows}}}
			_, err := client.Get("https://" + monitor + "/metrics")
			if want := ok && shows != nil; (err == nil) != want {
				t.Errorf("readers named %s, %d certificates: error %v, want accepted: %t", name, len(shows), err, want)
			}
			client.CloseIdleConnections()
		}
	}
}

// Containers and scripts look at the exit code, people at what is printed.
func TestHealthAsksTheMonitor(t *testing.T) {
	m := monitoring{address: "127.0.0.1:0"}
	var wrong error
	figures := prometheus.NewRegistry()
	monitor, err := m.listen(figures, func() error { return wrong }, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ready := func(want float64) {
		t.Helper()
		all, err := figures.Gather()
		if err != nil || len(all) != 1 || all[0].GetName() != "hushgrad_ready" || all[0].GetMetric()[0].GetGauge().GetValue() != want {
			t.Errorf("figures %v, %v, want %g", all, err, want)
		}
	}
	ready(1)
	go monitor.serve()
	address := monitor.listener.Addr().String()
	if text := do(t, "health", "--server", address); text != "ready\n" {
		t.Errorf("printed %q", text)
	}
	wrong = errors.New("the disk is full")
	ready(0)
	if err := try(t, []string{"health", "--server", address}); !errors.Is(err, errNotReady) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("not ready: %v", err)
	}
	if text := do(t, "health", "--alive", "--server", address); text != "alive\n" {
		t.Errorf("not ready, and alive: printed %q", text)
	}
	monitor.close()
	if err := try(t, []string{"health", "--alive", "--server", address}); !errors.Is(err, errNotReady) {
		t.Errorf("nobody alive: %v", err)
	}
	if err := try(t, []string{"health", "--server", address}); !errors.Is(err, errNotReady) {
		t.Errorf("nobody there: %v", err)
	}
	for _, args := range [][]string{{"--server", "example.com:1"}, {"--timeout", "0s"}} {
		if err := try(t, append([]string{"health"}, args...)); err == nil || errors.Is(err, errNotReady) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// A monitor for others asks for a certificate, also on this machine.
func TestHealthShowsACertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	own, err := tlsfile.LoadCertificate(cert, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	m := monitoring{address: "127.0.0.1:0", readers: callers{who: "metrics", ca: cert, names: "test"}}
	monitor, err := m.listen(prometheus.NewRegistry(), func() error { return nil }, own, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer monitor.close()
	go monitor.serve()
	address := monitor.listener.Addr().String()
	shown := []string{"health", "--server", address, "--tls-ca", cert, "--tls-cert", cert, "--tls-key", key}
	if text := do(t, shown...); text != "ready\n" {
		t.Errorf("printed %q", text)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"health", "--server", address}, "type --tls-ca, --tls-cert and --tls-key"},
		{shown[:5], "certificate"},
		{append(shown, "--tls-name", "other.example"), "other.example"},
		{[]string{"health", "--server", address, "--tls-name", "a"}, "needs --tls-ca"},
	} {
		if err := try(t, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

// A server that hangs does not make a script hang, and one that talks without end is cut off.
func TestHealthIsPatientWithinLimits(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if err := try(t, []string{"health", "--server", silent.Addr().String(), "--timeout", "50ms"}); !errors.Is(err, errNotReady) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that does not answer: %v", err)
	}
	talkative := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("ready\n", 10_000))
	}))
	defer talkative.Close()
	if text := do(t, "health", "--server", talkative.Listener.Addr().String()); len(text) != 4<<10 {
		t.Errorf("%d bytes were printed, want 4096", len(text))
	}
}
