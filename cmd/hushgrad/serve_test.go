package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

func TestTheOperatorListensOnThisMachineOnly(t *testing.T) {
	for address, ok := range map[string]bool{
		"localhost:0": true, "127.0.0.1:0": true, "127.3.2.1:0": true, "[::1]:0": true,
		"example.com:1": false, "localhost.example.com:1": false, "127.0.0.1": false, "localhost": false, ":7118": false,
		"0.0.0.0:0": false, "[::]:0": false, "192.0.2.1:0": false, "": false,
	} {
		err := parse("serve", &serveFlags{}, "--operator-listen", address)
		if (err == nil) != ok {
			t.Errorf("%q: %v, want accepted: %t", address, err, ok)
		}
		if !ok && (err == nil || !strings.Contains(err.Error(), "--operator-listen")) {
			t.Errorf("%q: error %v does not name the flag", address, err)
		}
	}
	// With an authority for operators any address will do.
	for _, address := range []string{"0.0.0.0:0", "example.com:1"} {
		if err := parse("serve", &serveFlags{}, "--operator-listen", address, "--tls-cert", "c", "--tls-key", "k", "--operator-ca", "a", "--operator-name", "*"); err != nil {
			t.Errorf("%q with --operator-ca: %v", address, err)
		}
	}
}

// codesOn opens a round with the given credentials on both listeners and returns
// how often each code came back.
func codesOn(t *testing.T, addresses []string, creds credentials.TransportCredentials) map[codes.Code]int {
	t.Helper()
	got := map[codes.Code]int{}
	for _, address := range addresses {
		got[status.Code(openOn(t, address, creds))]++
	}
	return got
}

func TestServeRefusesOperatorsOfAnotherAuthority(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair, pool := selfSigned(t, certFile, keyFile)
	stranger, _ := selfSigned(t, filepath.Join(dir, "other.pem"), filepath.Join(dir, "other-key.pem"))
	// It is sent whatever authorities the server says it accepts.
	wrong := credentials.NewTLS(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &stranger, nil }})
	right := credentials.NewTLS(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}})
	addresses := run(t, "--tls-cert", certFile, "--tls-key", keyFile, "--operator-ca", certFile, "--operator-name", "test")
	if got := codesOn(t, addresses, wrong); got[codes.Unimplemented] != 1 || got[codes.Unavailable] != 1 {
		t.Errorf("a stranger's certificate: %v, want the clients' listener without the service and the operator's closed", got)
	}
	if got := codesOn(t, addresses, right); got[codes.Unimplemented] != 1 || got[codes.OK] != 1 {
		t.Errorf("the operator's certificate: %v, want one round opened", got)
	}
}

func TestServeWithTLSAlone(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	_, pool := selfSigned(t, certFile, keyFile)
	addresses := run(t, "--tls-cert", certFile, "--tls-key", keyFile)
	if got := codesOn(t, addresses, insecure.NewCredentials()); got[codes.Unavailable] != 2 {
		t.Errorf("without TLS: %v, want both listeners closed", got)
	}
	withTLS := credentials.NewTLS(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13})
	if got := codesOn(t, addresses, withTLS); got[codes.Unimplemented] != 1 || got[codes.OK] != 1 {
		t.Errorf("with TLS: %v, want the operator's listener to open a round and the clients' to answer", got)
	}
}

func TestServeRefusesAnAuthorityWithoutCertificates(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, certFile, keyFile)
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificates here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{empty: 2, keyFile: 2, filepath.Join(dir, "absent.pem"): 1} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		var stderr bytes.Buffer
		args := []string{"serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile, "--operator-ca", file, "--operator-name", "*"}
		if code := call(ctx, args, io.Discard, &stderr); code != want || !strings.Contains(stderr.String(), "--operator-ca") {
			t.Errorf("%s: exit code %d, want %d (%s)", filepath.Base(file), code, want, stderr.String())
		}
		cancel()
	}
}

func TestServeLogsJSON(t *testing.T) {
	var out log
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	code := make(chan int, 1)
	go func() {
		code <- call(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--log-format", "json"}, io.Discard, &out)
	}()
	lines := func() []string {
		out.mu.Lock()
		defer out.mu.Unlock()
		return strings.Split(strings.TrimSpace(out.text.String()), "\n")
	}
	for len(lines()) < 3 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d", c)
	}
	served, said := 0, 0
	for _, line := range lines() {
		var entry struct{ Time, Level, Msg, Address string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level != "INFO" {
			t.Errorf("line %q: %+v, %v, want JSON", line, entry, err)
		}
		if entry.Msg == "serving" && entry.Address != "" {
			served++
		}
		if strings.Contains(entry.Msg, "only the local ε of a round holds") {
			said++
		}
	}
	if served != 2 || said != 1 {
		t.Errorf("%q: want a line per listener, and one that says what holds", lines())
	}
}

// A client's address may be open to everybody; nobody meant that who did not say so.
func TestServeRefusesPlaintextOnPublicAddresses(t *testing.T) {
	for _, c := range []struct {
		args []string
		ok   bool
	}{
		{[]string{"--listen", ":7117"}, false},
		{[]string{"--listen", "192.0.2.1:7117"}, false},
		{[]string{"--listen", ":7117", "--insecure"}, true},
		{[]string{"--listen", ":7117", "--tls-cert", "c", "--tls-key", "k"}, true},
		{[]string{"--listen", "127.0.0.1:7117"}, true},
	} {
		if err := parse("serve", &serveFlags{}, c.args...); (err == nil) != c.ok {
			t.Errorf("%v: error %v, want accepted: %t", c.args, err, c.ok)
		}
	}
}

// A certificate of the operator's authority is not enough: it must have the operator's name.
func TestServeKnowsItsOperatorsByName(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair, pool := selfSigned(t, certFile, keyFile) // for test
	creds := credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}})
	for names, opened := range map[string]int{"test": 1, "other, test": 1, "*": 1, "other": 0, "tes": 0} {
		addresses := run(t, "--tls-cert", certFile, "--tls-key", keyFile, "--operator-ca", certFile, "--operator-name", names)
		if got := codesOn(t, addresses, creds); got[codes.OK] != opened {
			t.Errorf("%q: %v, want %d rounds opened", names, got, opened)
		}
	}
	for name, certificate := range map[string]x509.Certificate{
		"common": {Subject: pkix.Name{CommonName: "op"}}, "DNS": {DNSNames: []string{"a", "op"}}, "URI": {URIs: []*url.URL{{Path: "op"}}},
	} {
		if err := (&callers{who: "operator", names: "op"}).accept(&certificate); err != nil {
			t.Errorf("%s name: %v", name, err)
		}
		if err := (&callers{who: "operator", names: "o"}).accept(&certificate); err == nil {
			t.Errorf("%s name that begins alike: accepted", name)
		}
	}
}

// A renewed certificate is shown without a restart.
func TestServeFollowsItsCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	_, first := selfSigned(t, certFile, keyFile)
	addresses := run(t, "--tls-cert", certFile, "--tls-key", keyFile)
	_, second := selfSigned(t, certFile, keyFile)
	for name, c := range map[string]struct {
		pool   *x509.CertPool
		closed int
	}{"old": {first, 2}, "new": {second, 0}} {
		if got := codesOn(t, addresses, credentials.NewTLS(&tls.Config{RootCAs: c.pool})); got[codes.Unavailable] != c.closed {
			t.Errorf("a client that trusts the %s certificate: %v, want %d closed", name, got, c.closed)
		}
	}
}
