package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file of another kind is refused, and the error says which file, and what it must be.
func TestFilesOfAnotherKindAreRefused(t *testing.T) {
	dir := t.TempDir()
	round, _ := reportsOf(t, dir)
	s := newSigner(t)
	cert, key := s.issue("one", time.Hour)
	_, other := s.issue("another", time.Hour)
	file := func(name, text string) string { return writeFile(t, dir, name, text) }
	semicolons, picture, latin := file("semicolons.csv", "ann;0;0.5\nbob;1;-1\n"), file("picture.png", "\x89PNG\r\n\x1a\n\x00\x00"), file("latin.csv", "J\xf6rg,0,0.5\n")
	tls := func(cert, key string) []string { return []string{"serve", "--tls-cert", cert, "--tls-key", key} }
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"encode", "--round", round, semicolons}, `line 1: csv: got "ann;0;0.5", rule: must have commas between the fields client,key,value`},
		{[]string{"encode", "--round", round, file("tabs.csv", "ann\t0\t0.5\n")}, `must have commas between`},
		{[]string{"encode", "--round", round, picture}, `client: got "\x89PNG", rule: must be UTF-8 without control characters, in a file of CSV or JSON lines`},
		{[]string{"encode", "--round", round, latin}, `client: got "J\xf6rg", rule: must be UTF-8`},
		{[]string{"aggregate", "--round", round, semicolons}, `rule: must begin with "hgrpts2\n", as files of hushgrad encode do`},
		{tls(picture, key), `--tls-cert, --tls-key: file: got "` + picture + `", rule: must hold PEM certificates`},
		{tls(cert, semicolons), `got "` + semicolons + `", rule: must hold a private key in PEM`},
		{tls(key, cert), `got "` + key + `", rule: must hold PEM certificates`},
		{tls(cert, other), `got "` + other + `", rule: must hold the private key of the certificate in ` + cert},
		{[]string{"rounds", "list", "--tls-ca", cert, "--tls-cert", cert, "--tls-key", other, "--server", "127.0.0.1:1"}, `got "` + other + `", rule: must hold the private key of the certificate in ` + cert},
	} {
		if text := refusal(t, c.args...); !strings.Contains(text, c.says) || strings.Count(text, "\n") != 1 {
			t.Errorf("%q: %q, want %q", c.args, text, c.says)
		}
	}
	printed(t, "encode", "--round", round, "--out", filepath.Join(dir, "named.bin"), file("named.csv", "Jörg,0,0.5\n\"a;b\",,\n"))
}

// What answers in place of a server, and a name that nobody has, are said in the words of the flag.
func TestWhoIsNoServerIsNamed(t *testing.T) {
	page := httptest.NewServer(http.NotFoundHandler())
	defer page.Close()
	_, port, err := net.SplitHostPort(page.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	at := "127.0.0.1:" + port
	if text, want := refusal(t, "rounds", "list", "--server", at), `--server: got "`+at+`", rule: must be a listener of hushgrad for gRPC, and another program or page answers there`; !strings.Contains(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	if text, want := refusal(t, "health", "--server", at), `not ready: --server: got "`+at+`", rule: must be what hushgrad has for --metrics-listen, and another program or listener answers there`; !strings.Contains(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	clients, _ := parts(t, run(t))
	if text, want := refusal(t, "health", "--server", clients), "must be what hushgrad has for --metrics-listen"; !strings.Contains(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	secured, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer secured.Close()
	go func() { // as gRPC with TLS ends a connection without
		for conn, err := secured.Accept(); err == nil; conn, err = secured.Accept() {
			_ = conn.Close()
		}
	}()
	if text, want := refusal(t, "health", "--server", secured.Addr().String()), "must be what hushgrad has for --metrics-listen"; !strings.Contains(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	authority := newSigner(t).file
	const nowhere = "no-such-host.invalid:7118"
	if text, want := refusal(t, "rounds", "list", "--tls-ca", authority, "--server", nowhere), `--server: got "`+nowhere+`", rule: must be `; !strings.Contains(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
}
