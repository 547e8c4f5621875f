package connlimit

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const most = 8

// serve starts a server whose /wait answers when the test says so.
func serve(t *testing.T, secure bool) (s *httptest.Server, answer chan struct{}) {
	t.Helper()
	answer = make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	mux.HandleFunc("/wait", func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		<-answer
		fmt.Fprint(w, "hello")
	})
	s = httptest.NewUnstartedServer(mux)
	Set(s.Config, most)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s, answer
}

// connect opens a connection and writes text.
func connect(t *testing.T, s *httptest.Server, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t *testing.T, s *httptest.Server) {
	t.Helper()
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	resp, err := client.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
}

// Connections that say nothing, that say half of a request, and that have said one, keep nobody away, also
// before a handshake.
func TestNobodyIsLockedOut(t *testing.T) {
	for name, c := range map[string]struct {
		secure bool
		says   string
	}{
		"silent": {says: ""}, "silent before the handshake": {secure: true}, "half a request": {says: "GET / HT"},
		"a whole one": {says: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := serve(t, c.secure)
			for range 3 * most {
				connect(t, s, c.says)
			}
			for range 3 {
				get(t, s)
			}
		})
	}
}

// A request in progress goes on while connections without one come and go.
func TestRequestsInProgressGoOn(t *testing.T) {
	s, answer := serve(t, false)
	busy := bufio.NewReader(connect(t, s, "GET /wait HTTP/1.0\r\nHost: localhost\r\n\r\n"))
	if line, err := busy.ReadString('\n'); err != nil || !strings.Contains(line, "200 OK") {
		t.Fatalf("%q, %v", line, err)
	}
	for range 3 * most {
		connect(t, s, "")
	}
	get(t, s)
	close(answer)
	if rest, err := io.ReadAll(busy); err != nil || !strings.HasSuffix(string(rest), "hello") {
		t.Errorf("%q, %v", rest, err)
	}
}
