package dashboard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// serve runs a dashboard on a loopback port until stop is called.
func serve(t *testing.T, s Source) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	d := New(s, Config{})
	d.patience = time.Minute // on a slow machine
	go func() { ended <- d.Serve(ctx, l) }()
	done := false
	stop = func() {
		cancel()
		if done {
			return
		}
		done = true
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), stop
}

func open(t *testing.T, url string) *http.Response {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// A stream begins with the state, goes on with each change, and ends with the last state when the
// dashboard stops.
func TestAStreamShowsEveryStateThatLasts(t *testing.T) {
	t.Parallel()
	s := &source{}
	url, stop := serve(t, s)
	resp := open(t, url+"/events")
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("content type %s", kind)
	}
	stream := newEvents(resp.Body)
	for version := range uint64(4) {
		var got State
		for got.Time == nil || len(got.Models) < int(version) { // promises are new states, too
			var err error
			if got, err = stream.next(); err != nil || got.Time == nil || got.Version != Version || len(got.Models) > int(version) {
				t.Fatalf("state %d: %+v, %v", version, got, err)
			}
		}
		s.change(func(o *overview.Overview) { o.Models = append(o.Models, overview.Model{Version: version + 1}) })
	}
	if stream.ended {
		t.Error("the stream has said the end before it came")
	}
	k := kindOf(t, cocoRound("r"), nil, 3)
	s.change(func(o *overview.Overview) { o.Models, o.Kinds = nil, []overview.Kind{k} })
	stop()
	var last State
	for {
		got, err := stream.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if last = got; err != nil {
			t.Fatal(err)
		}
	}
	if last.Time == nil || len(last.Models) != 0 || !stream.ended {
		t.Errorf("the stream ends with %+v, and says so: %t", last, stream.ended)
	}
	// Rounds that ended just before the dashboard are in the promise of all rounds, too.
	if p := last.Together.Promise; p == nil || last.Together.Composed != 3 || !strings.Contains(p.text(), "3 reports") {
		t.Errorf("at the end all rounds together promise %+v", last.Together)
	}
}

// The 17th stream is refused, /state.json still answers, and a place is free when a reader has gone.
func TestStreamsAreLimited(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, &source{})
	for range maxStreams {
		resp := open(t, url+"/events")
		if _, err := newEvents(resp.Body).next(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
	}
	resp := open(t, url+"/events")
	if resp.StatusCode != http.StatusServiceUnavailable { // the body of a stream has no end
		t.Fatalf("stream %d: %d", maxStreams+1, resp.StatusCode)
	}
	if text, _ := io.ReadAll(resp.Body); !strings.Contains(string(text), "streams: got 17, rule: must be at most 16") {
		t.Errorf("%s", text)
	}
	if resp := open(t, url+"/state.json"); resp.StatusCode != http.StatusOK {
		t.Errorf("/state.json: %d", resp.StatusCode)
	}
}

func TestAPlaceIsFreeWhenAReaderHasGone(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, &source{})
	for range 2 * maxStreams {
		var resp *http.Response
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if resp = open(t, url+"/events"); resp.StatusCode == http.StatusOK {
				break
			}
			resp.Body.Close()
			if time.Now().After(end) {
				t.Fatal("no place is free")
			}
		}
		resp.Body.Close()
	}
}

func TestLongHeadersAreRefused(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, &source{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n", strings.Repeat("x", 20<<10))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%+v, %v", resp, err)
	}
}

// A connection beyond the limit is answered, in the place of an idle one.
func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, &source{})
	address := strings.TrimPrefix(url, "http://")
	answers := func(conn net.Conn) bool {
		fmt.Fprint(conn, "GET /static/icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		return err == nil && resp.StatusCode == http.StatusOK
	}
	var conns []net.Conn
	for range maxConnections + 1 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	if !answers(conns[maxConnections]) || !answers(conns[maxConnections-1]) {
		t.Error("the last connections are not answered")
	}
	if answers(conns[0]) {
		t.Error("the first connection did not make room")
	}
}
