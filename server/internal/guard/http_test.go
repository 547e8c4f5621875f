package guard

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serveHTTP serves what next does under limits until the test ends.
func serveHTTP(t *testing.T, l Limits, next http.HandlerFunc) (g *Guard, url string) {
	t.Helper()
	l.HeldBytes, l.DecodingBytes, l.DecodingCost = 1<<20, 1<<20, func(n int) int64 { return int64(n) }
	g = New(l, slog.New(slog.DiscardHandler))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, served := &http.Server{Handler: g.Handler(next)}, make(chan error, 1)
	go func() { served <- g.ServeHTTP(s, listener, nil) }()
	t.Cleanup(func() { _ = s.Close(); <-served })
	return g, "http://" + listener.Addr().String()
}

// An old connection takes no new calls, and a call may not last for ever.
func TestOldConnectionsOverHTTPEnd(t *testing.T) {
	g, url := serveHTTP(t, Limits{Connections: 9, Progress: time.Minute, Age: time.Millisecond, Grace: time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-r.Context().Done()
		}
	})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	closed := false
	for end := time.Now().Add(time.Minute); !closed && time.Now().Before(end); time.Sleep(time.Millisecond) {
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		closed = resp.Close
	}
	if !closed {
		t.Error("a connection stays for ever")
	}
	resp, err := client.Get(url + "/wait")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if load := g.Load(); load.Stalled == 0 {
		t.Errorf("a call that was ended is not counted: %+v", load)
	}
}

// A peer that does not take its answer loses the connection.
func TestAnAnswerThatIsNotTakenEnds(t *testing.T) {
	ended := make(chan error, 1)
	_, url := serveHTTP(t, Limits{Connections: 9, Progress: 50 * time.Millisecond}, func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.Copy(w, endless{})
		ended <- err
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("an endless answer has an end")
		}
	case <-time.After(time.Minute):
		t.Error("the answer is still written")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// gRPC may say that a call is over when its request is no more, which has nothing to wait for then.
func TestACallMayEndAfterItsRequest(t *testing.T) {
	calls := make(chan *call, 1)
	_, url := serveHTTP(t, Limits{Connections: 9, Progress: time.Minute}, func(_ http.ResponseWriter, r *http.Request) { calls <- callOf(r.Context()) })
	plain := &http.Transport{Protocols: new(http.Protocols)}
	plain.Protocols.SetUnencryptedHTTP2(true)
	defer plain.CloseIdleConnections()
	client := &http.Client{Transport: plain}
	for range 2 { // the second one on the same connection
		resp, err := client.Post(url, "text/plain", strings.NewReader("nobody reads this"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		(<-calls).over()
	}
}
