package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/internal/guard"
)

// Nothing is reachable that a caller over gRPC is refused.
func TestRefusalsOverHTTP(t *testing.T) {
	s := serveHTTP(t, server.Config{Limits: server.Limits{MaxMessageBytes: 64 << 10}})
	large, err := protojson.Marshal(&service.SubmitReportsRequest{RoundId: "r", Reports: make([]byte, 65<<10)})
	if err != nil {
		t.Fatal(err)
	}
	stream := append(binary.BigEndian.AppendUint32([]byte{0}, 1<<30), "{}"...)
	for name, c := range map[string]struct {
		path, kind string
		body       io.Reader
		headers    []string
		code       int
		says       string
	}{
		"operator":          {"/hushgrad.v1.Operator/ListRounds", "application/json", strings.NewReader("{}"), nil, 404, ""},
		"shuffled":          {"/hushgrad.v1.Shuffled/CompleteRound", "application/json", strings.NewReader("{}"), nil, 404, ""},
		"health":            {"/grpc.health.v1.Health/Check", "application/json", strings.NewReader("{}"), nil, 404, ""},
		"no method":         {rounds + "Nothing", "application/json", strings.NewReader("{}"), nil, 404, ""},
		"another type":      {rounds + "GetRound", "text/plain", strings.NewReader("{}"), nil, 415, "Content-Type"},
		"another charset":   {rounds + "GetRound", "application/json; charset=latin1", strings.NewReader("{}"), nil, 415, "Content-Type"},
		"compressed":        {rounds + "GetRound", "application/json", strings.NewReader("{}"), []string{"Content-Encoding", "gzip"}, 501, "must not be compressed"},
		"compressed stream": {rounds + "SubmitReports", "application/connect+json", strings.NewReader("{}"), []string{"Connect-Content-Encoding", "gzip"}, 200, "must not be compressed"},
		"compressed flag":   {rounds + "SubmitReports", "application/connect+proto", strings.NewReader("\x01\x00\x00\x00\x02{}"), nil, 200, "error"},
		"no JSON":           {rounds + "GetRound", "application/json", strings.NewReader("{"), nil, 400, "invalid_argument"},
		"unknown name":      {rounds + "GetRound", "application/json", strings.NewReader(`{"id": "r"}`), nil, 400, "id"},
		"long body":         {rounds + "SubmitBatch", "application/json", bytes.NewReader(make([]byte, 1<<20)), nil, 429, "resource_exhausted"},
		"endless body":      {rounds + "SubmitBatch", "application/json", endless{}, nil, 429, "resource_exhausted"},
		"long unary":        {rounds + "GetRound", "application/json", strings.NewReader(`{"roundId": "` + strings.Repeat("x", 66<<10) + `"}`), nil, 429, "resource_exhausted"},
		"long message":      {rounds + "SubmitBatch", "application/json", bytes.NewReader(large), nil, 429, "resource_exhausted"},
		"long in a stream":  {rounds + "SubmitReports", "application/connect+json", bytes.NewReader(stream), nil, 200, "resource_exhausted"},
		"bad report":        {rounds + "SubmitBatch", "application/json", strings.NewReader(`{"roundId": "r"}`), nil, 400, "round_digest"},
	} {
		code, text := s.call(t, c.path, c.kind, c.body, c.headers...)
		if code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %q, want %d %q", name, code, text, c.code, c.says)
		}
	}
	resp, err := http.Get(s.url + rounds + "GetRound?connect=v1&encoding=json&message={}")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d, want 405", resp.StatusCode)
	}
	if o := s.Overview().Totals; o.Accepted != 0 {
		t.Errorf("%d reports are accepted, want 0", o.Accepted)
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte(" "), len(p))), nil }

// A body that does not come ends its call, however much of it is there and whatever the answer is.
func TestASlowBodyEndsItsCall(t *testing.T) {
	t.Parallel() // it mostly waits
	key, err := ohttp.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	private, err := key.Text()
	if err != nil {
		t.Fatal(err)
	}
	s := serveHTTP(t, server.Config{HTTPOrigins: []string{"https://example.org"}, OHTTPKeys: []string{private}, Limits: server.Limits{ProgressTimeout: 100 * time.Millisecond}})
	relayed := "POST " + ohttp.GatewayPath + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + ohttp.RequestType + "\r\n"
	head := func(method, kind string) string {
		return "POST " + rounds + method + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + kind + "\r\nContent-Length: 10000\r\n\r\n"
	}
	message, err := protojson.Marshal(s.batch(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	first := string(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
	refused := "\x00\x00\x00\x00\x02{}"
	var waiting sync.WaitGroup // for all at the same time
	for name, sent := range map[string]string{
		"a part of JSON":          head("SubmitBatch", "application/json") + `{"round`,
		"no body":                 head("GetRound", "application/json"),
		"a part of a message":     head("SubmitReports", "application/connect+json") + "\x00\x00\x00\x10",
		"after a good message":    head("SubmitReports", "application/connect+json") + first,
		"after a refused message": head("SubmitReports", "application/connect+json") + refused,
		"after a wrong type":      head("GetRound", "text/plain"),
		"a preflight":             "OPTIONS " + rounds + "GetRound HTTP/1.1\r\nHost: localhost\r\nOrigin: https://example.org\r\nAccess-Control-Request-Method: POST\r\nContent-Length: 9\r\n\r\n",
		"a part from a relay":     relayed + "Content-Length: 10000\r\n\r\nx",
		"nothing from a relay":    relayed + "Content-Length: 10000\r\n\r\n",
		"a chunk from a relay":    relayed + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
		"a gRPC-Web message":      head("GetRound", "application/grpc-web+proto") + "\x00\x00\x00\x00\x00",
	} {
		waiting.Go(func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, sent); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Errorf("%s: the connection stays: %v", name, err)
			}
		})
	}
	waiting.Wait()
	s.eventually(t, "calls are left", func(l guard.Load) bool {
		return l.Streams == 0 && l.HeldBytes == 0 && l.DecodingBytes == 0 && l.Connections == 0 && l.Stalled > 0
	})
}

// Without an origin no page of another site may call, and with one no other.
func TestOriginsAreNamed(t *testing.T) {
	s := serveHTTP(t, server.Config{HTTPOrigins: []string{"https://example.org"}})
	without := serveHTTP(t, server.Config{})
	for _, c := range []struct {
		site         *site
		origin, want string
	}{{s, "https://example.org", "https://example.org"}, {s, "https://example.com", ""}, {without, "https://example.org", ""}} {
		for _, method := range []string{http.MethodOptions, http.MethodPost} {
			req, _ := http.NewRequestWithContext(t.Context(), method, c.site.url+rounds+"GetRound", strings.NewReader("{}"))
			req.Header.Set("Origin", c.origin)
			req.Header.Set("Content-Type", "application/json")
			if method == http.MethodOptions {
				req.Header.Set("Access-Control-Request-Method", "POST")
				req.Header.Set("Access-Control-Request-Headers", "connect-protocol-version,content-type")
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != c.want {
				t.Errorf("%s from %s: %q is allowed, want %q", method, c.origin, got, c.want)
			}
		}
	}
	for _, origin := range []string{"*", "https://*", "example.org", "http://example.org", "https://example.org/", "https://example.org/x", "https://a@example.org", "null", ""} {
		if _, err := server.New(server.Config{HTTPOrigins: []string{origin}}); err == nil || !strings.Contains(err.Error(), "HTTPOrigins[0]") {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
	if _, err := server.New(server.Config{OHTTPKeys: []string{"no key"}}); err == nil || !strings.Contains(err.Error(), "OHTTPKeys") {
		t.Errorf("a key that is none: %v", err)
	}
}

// hold opens connections that each send the beginning of a request and keep it open.
func (s *site) hold(t *testing.T, n int, head string) {
	t.Helper()
	for range n {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, head) // it may be closed already
	}
}

// eventually waits for something to hold of the load.
func (s *site) eventually(t *testing.T, what string, holds func(guard.Load) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if load := s.HTTPLoad(); holds(load) {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%s: %+v", what, load)
		}
	}
}

// What a request promises takes no memory, in a header or in an envelope.
func TestPromisesOverHTTPTakeNoMemory(t *testing.T) {
	s := serveHTTP(t, server.Config{Limits: server.Limits{MaxMessageBytes: 64 << 20}})
	const each, promised = 20, 60 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	head := "POST " + rounds + "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
	s.hold(t, each, fmt.Sprintf(head, "SubmitBatch", "application/json", promised, "{"))
	s.hold(t, each, fmt.Sprintf(head, "SubmitBatch", "application/proto", promised, "\n"))
	s.hold(t, each, fmt.Sprintf(head, "SubmitReports", "application/connect+json", promised+5, string(binary.BigEndian.AppendUint32([]byte{0}, promised))+"{"))
	s.hold(t, each, fmt.Sprintf(head, "SubmitReports", "application/grpc-web+proto", promised+5, string(binary.BigEndian.AppendUint32([]byte{0}, promised))+"\n"))
	s.eventually(t, "the calls do not begin", func(l guard.Load) bool { return l.Streams == 4*each })
	time.Sleep(100 * time.Millisecond) // a buffer that comes later is missed, and nothing fails
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > promised {
		t.Errorf("%d requests took %d MB", 4*each, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

// Parts of bodies count for what becomes of them: connections go when together they hold too much.
func TestPartsOfBodiesAreBounded(t *testing.T) {
	s := serveHTTP(t, server.Config{Limits: server.Limits{MaxMessageBytes: 64 << 10, MaxInFlightBytes: 2 << 20}})
	part := `{"roundId": "` + strings.Repeat("x", 40<<10)
	s.hold(t, 10, "POST "+rounds+"SubmitBatch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n"+part)
	s.eventually(t, "no connection goes", func(l guard.Load) bool { return l.EvictedMemory > 0 && l.HeldBytes <= 1<<20 })
}

// What a refused body held is free when its call has ended, on a connection that goes on.
func TestRefusedBodiesAreLetGo(t *testing.T) {
	t.Parallel() // it mostly waits
	s := serveHTTP(t, server.Config{})
	plain := &http.Transport{Protocols: new(http.Protocols)}
	plain.Protocols.SetUnencryptedHTTP2(true)
	reader, writer := io.Pipe() // a call that lasts, so that the connection never rests
	lasting, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+rounds+"SubmitReports", reader)
	lasting.Header.Set("Content-Type", "application/connect+json")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if resp, err := plain.RoundTrip(lasting); err == nil {
			_ = resp.Body.Close()
		}
	}()
	s.eventually(t, "the call does not begin", func(l guard.Load) bool { return l.Streams == 1 })
	for range 20 {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+rounds+"SubmitBatch", strings.NewReader(strings.Repeat("x", 100_000)))
		req.Header.Set("Content-Type", "application/json")
		resp, err := plain.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("a body of no JSON: %d", resp.StatusCode)
		}
	}
	s.eventually(t, "bodies are held", func(l guard.Load) bool { return l.Streams == 1 && l.HeldBytes < 300_000 })
	_ = writer.Close()
	<-ended
}

// There is room for so many connections, and a new one takes the place of an old one.
func TestConnectionsOverHTTPAreBounded(t *testing.T) {
	s := serveHTTP(t, server.Config{Limits: server.Limits{MaxConnections: 5}})
	s.hold(t, 9, "POST ")
	s.eventually(t, "too many connections stay", func(l guard.Load) bool { return l.EvictedFull == 4 && l.Connections <= 5 })
	if code, text := s.call(t, rounds+"GetRound", "application/json", strings.NewReader("{}")); code != http.StatusOK {
		t.Errorf("GetRound: %d %s", code, text)
	}
}
