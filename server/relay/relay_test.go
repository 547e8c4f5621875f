package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
)

// note is a log.
type note struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *note) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *note) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// start runs a relay before a gateway until the test ends, and returns its URL, itself and its log.
func start(t *testing.T, c Config, gateway http.HandlerFunc) (url string, r *Relay, log *note) {
	t.Helper()
	if gateway != nil {
		behind := httptest.NewServer(gateway)
		t.Cleanup(behind.Close)
		c.Gateway = behind.URL
	}
	log = &note{}
	c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + l.Addr().String(), r, log
}

// post sends a message with headers in pairs.
func post(t *testing.T, url string, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", ohttp.RequestType)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// answer is what a gateway answers.
func answer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", ohttp.ResponseType)
	_, _ = io.WriteString(w, text)
}

// The message goes on as it is, and nothing that names its sender. The client gets the response, and nothing else that the gateway says.
func TestTheGatewayGetsTheMessageAlone(t *testing.T) {
	var header http.Header
	var body, path, from string
	figures := prometheus.NewRegistry()
	url, _, log := start(t, Config{Metrics: figures}, func(w http.ResponseWriter, r *http.Request) {
		message, _ := io.ReadAll(r.Body)
		header, body, path, from = r.Header, string(message), r.URL.Path, r.RemoteAddr
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Tag", "c")
		answer(w, "sealed response")
	})
	var own string
	client := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			own = c.LocalAddr().String()
		}
		return c, err
	}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/any?path=1", strings.NewReader("sealed request"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": ohttp.RequestType, "Forwarded": "for=198.51.100.7", "X-Forwarded-For": "198.51.100.7", "Via": "1.1 a", "Cookie": "c=d",
		"User-Agent": "mine", "Authorization": "Bearer x", "Traceparent": "00-1-2-3", "Accept-Language": "de", "Referer": "https://a.test", "X-Mine": "1",
	} {
		req.Header.Set(name, value)
	}
	resp, err := client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != "sealed response" || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != ohttp.ResponseType {
		t.Errorf("%d %s, %v", resp.StatusCode, got, err)
	}
	if resp.Header.Get("Set-Cookie")+resp.Header.Get("X-Tag") != "" {
		t.Errorf("the client gets %v", resp.Header)
	}
	if body != "sealed request" || path != ohttp.GatewayPath {
		t.Errorf("the gateway got %q at %s", body, path)
	}
	for name := range header {
		if !slices.Contains([]string{"Content-Type", "Content-Length"}, name) {
			t.Errorf("the gateway got %s: %s", name, header.Get(name))
		}
	}
	if own == "" || from == own {
		t.Errorf("the gateway saw %q, the address of the client", from)
	}
	post(t, url, strings.NewReader("x"), "Content-Type", "text/plain")
	told := log.String()
	if err := testutil.GatherAndCompare(figures, strings.NewReader(`# HELP hushgrad_relay_requests_total Requests by result: carried, refused because they are for no gateway, limited because there are too many, or failed because the gateway does not answer.
# TYPE hushgrad_relay_requests_total counter
hushgrad_relay_requests_total{result="carried"} 1
hushgrad_relay_requests_total{result="failed"} 0
hushgrad_relay_requests_total{result="limited"} 0
hushgrad_relay_requests_total{result="refused"} 1
`)); err != nil {
		t.Error(err)
	}
	if strings.Contains(told, own) || strings.Contains(told, "198.51.100.7") || strings.Count(told, "\n") != 1 {
		t.Errorf("the log says of the client: %s", told)
	}
}

// An error of a connection is not in the log: net/http writes the address of the client with it.
func TestABadConnectionIsNotLogged(t *testing.T) {
	secure := httptest.NewUnstartedServer(nil)
	secure.StartTLS()
	defer secure.Close()
	url, _, log := start(t, Config{Security: secure.TLS}, func(w http.ResponseWriter, _ *http.Request) { answer(w, "") })
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "no TLS at all\r\n\r\n")
	_, _ = io.ReadAll(conn)
	_ = conn.Close()
	time.Sleep(50 * time.Millisecond)
	if told := log.String(); strings.Contains(told, conn.LocalAddr().String()) || strings.Count(told, "\n") != 1 {
		t.Errorf("the log says %s", told)
	}
}

func TestWhatIsNotCarried(t *testing.T) {
	calls := 0
	url, _, _ := start(t, Config{MaxMessageBytes: 8 << 10, Timeout: 300 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		calls++
		answer(w, "x")
	})
	long := bytes.Repeat([]byte("x"), 8<<10+ohttp.Overhead+1)
	for name, c := range map[string]struct {
		body io.Reader
		kind string
		code int
	}{
		"another type":      {strings.NewReader("x"), "application/json", http.StatusUnsupportedMediaType},
		"a long one":        {bytes.NewReader(long), ohttp.RequestType, http.StatusRequestEntityTooLarge},
		"a long one, slyly": {io.MultiReader(bytes.NewReader(long)), ohttp.RequestType, http.StatusRequestEntityTooLarge},
	} {
		if resp, text := post(t, url, c.body, "Content-Type", c.kind); resp.StatusCode != c.code {
			t.Errorf("%s: %d %s, want %d", name, resp.StatusCode, text, c.code)
		}
	}
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", resp.StatusCode)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 100\r\n\r\nslow", ohttp.RequestType)
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("a body that does not come: %v", err)
	}
	if calls != 0 {
		t.Errorf("the gateway was called %d times", calls)
	}
}

func TestRequestsAreLimited(t *testing.T) {
	url, _, _ := start(t, Config{MaxPerSecond: 2}, func(w http.ResponseWriter, _ *http.Request) { answer(w, "x") })
	var codes []int
	for range 8 {
		resp, _ := post(t, url, strings.NewReader("x"))
		codes = append(codes, resp.StatusCode)
	}
	if !slices.Contains(codes, http.StatusTooManyRequests) || codes[0] != http.StatusOK {
		t.Errorf("%v", codes)
	}
	// Here is room for two steps: of a request, and of its response.
	began, let := make(chan struct{}), make(chan struct{})
	url, r, _ := start(t, Config{MaxMessageBytes: 32 << 10, MaxInFlightBytes: 2 * readStep}, func(w http.ResponseWriter, req *http.Request) {
		if body, _ := io.ReadAll(req.Body); string(body) == "wait" {
			began <- struct{}{}
			<-let
		}
		answer(w, "x")
	})
	done := make(chan int, 2)
	for range 2 {
		go func() {
			resp, err := http.Post(url, ohttp.RequestType, strings.NewReader("wait"))
			if err != nil {
				done <- 0
				return
			}
			_ = resp.Body.Close()
			done <- resp.StatusCode
		}()
		<-began
	}
	if resp, text := post(t, url, strings.NewReader("x")); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("without room: %d %s", resp.StatusCode, text)
	}
	close(let)
	<-done
	<-done
	if resp, text := post(t, url, strings.NewReader("x")); resp.StatusCode != http.StatusOK {
		t.Errorf("with room again: %d %s", resp.StatusCode, text)
	}
	if !r.room.TryAcquire(2 * readStep) {
		t.Error("room was not given back")
	}
}

func TestAnswersThatAreNoGateways(t *testing.T) {
	for name, c := range map[string]struct {
		gateway http.HandlerFunc
		code    int
		says    string
	}{
		"another key": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", ohttp.ProblemType)
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, ohttp.KeyProblem)
		}, http.StatusBadRequest, "ohttp-key"},
		"a refusal": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "your address is", http.StatusRequestEntityTooLarge)
		}, http.StatusRequestEntityTooLarge, "has refused"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/other" {
				answer(w, "x")
				return
			}
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, http.StatusBadGateway, "does not answer"},
		"an error":       {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "x", 500) }, http.StatusBadGateway, "does not answer"},
		"another type":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, http.StatusBadGateway, "does not answer"},
		"a long answer":  {func(w http.ResponseWriter, _ *http.Request) { answer(w, strings.Repeat("x", 9<<10)) }, http.StatusBadGateway, "does not answer"},
		"a closed one":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, http.StatusBadGateway, "does not answer"},
		"one that waits": {func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); <-r.Context().Done() }, http.StatusBadGateway, "does not answer"},
	} {
		url, _, log := start(t, Config{MaxMessageBytes: 8 << 10, Timeout: 300 * time.Millisecond}, c.gateway)
		resp, text := post(t, url, strings.NewReader("x"))
		if resp.StatusCode != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %s, want %d %s", name, resp.StatusCode, text, c.code, c.says)
		}
		if c.code == http.StatusBadGateway != strings.Contains(log.String(), "level=WARN") {
			t.Errorf("%s: the log says %s", name, log)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	good := Config{Gateway: "https://shuffler.example:7125"}
	if r, err := New(good); err != nil || r.cfg.Gateway != good.Gateway+ohttp.GatewayPath {
		t.Errorf("%v, %v", r, err)
	}
	for param, change := range map[string]func(*Config){
		"Gateway":          func(c *Config) { c.Gateway = "http://shuffler.example" },
		"MaxMessageBytes":  func(c *Config) { c.MaxMessageBytes = 1 },
		"MaxInFlightBytes": func(c *Config) { c.MaxInFlightBytes = 1 },
		"MaxConnections":   func(c *Config) { c.MaxConnections = -1 },
		"MaxPerSecond":     func(c *Config) { c.MaxPerSecond = -1 },
		"Timeout":          func(c *Config) { c.Timeout = -1 },
		"ShutdownTimeout":  func(c *Config) { c.ShutdownTimeout = -1 },
	} {
		c := good
		change(&c)
		var p *fl.ParamError
		if _, err := New(c); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	for _, url := range []string{"", "shuffler.example", "https://", "https://u@shuffler.example", "https://shuffler.example?x=1", "ftp://shuffler.example"} {
		if _, err := gatewayURL(url); err == nil {
			t.Errorf("%q was taken", url)
		}
	}
}
