package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/limits"
)

// site is a server with a listener for HTTP and an open round.
type site struct {
	*server.Server
	url, clients string
	round        fl.Round
	operator     *client.Operator
}

func serveHTTP(t *testing.T, cfg server.Config) *site {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	clients, operator, web := listen(t), listen(t), listen(t)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(ctx, server.Listeners{Clients: clients, Operator: operator, HTTP: web})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	s := &site{Server: srv, url: "http://" + web.Addr().String(), clients: clients.Addr().String()}
	s.operator = client.NewOperator(dial(t, operator.Addr().String()))
	if s.round, err = s.operator.OpenRound(t.Context(), cocoRound("r")); err != nil {
		t.Fatal(err)
	}
	return s
}

// call is a POST of a body of this type, with headers in pairs, and returns status and body.
func (s *site) call(t *testing.T, path, kind string, body io.Reader, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
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
		t.Fatalf("%s: %d %q, %v", path, resp.StatusCode, text, err)
	}
	return resp.StatusCode, string(text)
}

// batch is a valid submission of one report.
func (s *site) batch(t *testing.T, key byte) *service.SubmitReportsRequest {
	t.Helper()
	m, err := fl.Open(s.round)
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.Encode(nil, make([]float64, s.round.Dim), fl.NewRand())
	if err != nil {
		t.Fatal(err)
	}
	return request(t, s.round, key, report)
}

const rounds = "/hushgrad.v1.Rounds/"

// What curl does: JSON in, JSON out, over HTTP/1.1 and without other headers.
func TestAReportInJSONIsCountedOnce(t *testing.T) {
	figures := prometheus.NewRegistry()
	s := serveHTTP(t, server.Config{Metrics: figures})
	code, text := s.call(t, rounds+"GetRound", "application/json", strings.NewReader(`{}`))
	var got struct {
		Status struct {
			State string
			Round struct{ Mechanism string }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != http.StatusOK || got.Status.State != "ROUND_STATE_OPEN" || got.Status.Round.Mechanism != "coco" {
		t.Fatalf("GetRound: %d %s %v", code, text, err)
	}
	batch := s.batch(t, 1)
	body := fmt.Sprintf(`{"roundId": "r", "roundDigest": %q, "batchKey": %q, "reports": %q}`,
		base64.StdEncoding.EncodeToString(batch.RoundDigest), base64.StdEncoding.EncodeToString(batch.BatchKey), base64.StdEncoding.EncodeToString(batch.Reports))
	for _, want := range []string{`{"accepted":"1"}`, `{"duplicates":"1"}`} {
		if code, text := s.call(t, rounds+"SubmitBatch", "application/json; charset=utf-8", strings.NewReader(body)); code != http.StatusOK || strings.ReplaceAll(text, " ", "") != want {
			t.Errorf("SubmitBatch: %d %s, want %s", code, text, want)
		}
	}
	over, err := service.NewRoundsClient(dial(t, s.clients)).SubmitBatch(t.Context(), batch)
	if err != nil || over.GetDuplicates() != 1 {
		t.Errorf("the same batch over gRPC: %v, %v, want a duplicate", over, err)
	}
	if o := s.Overview().Totals; o.Accepted != 1 || o.Duplicates != 2 {
		t.Errorf("%d accepted, %d duplicates, want 1 and 2", o.Accepted, o.Duplicates)
	}
	_, _ = s.call(t, rounds+"SubmitBatch", "application/json", strings.NewReader(`{"roundId":"nowhere"}`))
	if n := figure(t, figures, "hushgrad_refused_batches_total", "reason", "NotFound"); n != 1 {
		t.Errorf("%v refused batches are counted, want 1", n)
	}
	if n := figure(t, figures, "hushgrad_connections", "listener", "http"); n < 1 {
		t.Errorf("%v connections over HTTP are counted, want 1", n)
	}
}

// Every client that Connect has a library for can take part.
func TestProtocolsOverHTTP(t *testing.T) {
	s := serveHTTP(t, server.Config{})
	weights := bytes.Repeat([]byte("w"), 200_000)
	if _, err := s.operator.PutModel(t.Context(), "text/plain", weights); err != nil {
		t.Fatal(err)
	}
	plain := &http.Transport{Protocols: new(http.Protocols)}
	plain.Protocols.SetUnencryptedHTTP2(true)
	key := byte(1)
	for _, transport := range []http.RoundTripper{http.DefaultTransport, plain} {
		h2 := transport == plain
		for name, options := range map[string][]connect.ClientOption{
			"Connect": nil, "Connect with JSON": {connect.WithProtoJSON()}, "gRPC-Web": {connect.WithGRPCWeb()}, "gRPC": {connect.WithGRPC()},
		} {
			if name == "gRPC" && !h2 {
				continue
			}
			what := fmt.Sprintf("%s, h2 %v", name, h2)
			options = append(options, connect.WithSendMaxBytes(1<<20), connect.WithAcceptCompression("gzip", nil, nil))
			h := &http.Client{Transport: transport}
			get := connect.NewClient[service.GetRoundRequest, service.GetRoundResponse](h, s.url+rounds+"GetRound", options...)
			if resp, err := get.CallUnary(t.Context(), connect.NewRequest(&service.GetRoundRequest{RoundId: "r"})); err != nil || resp.Msg.GetStatus().GetRound().GetId() != "r" {
				t.Errorf("%s: GetRound: %v, %v", what, resp, err)
			}
			if _, err := get.CallUnary(t.Context(), connect.NewRequest(&service.GetRoundRequest{RoundId: "other"})); connect.CodeOf(err) != connect.CodeNotFound {
				t.Errorf("%s: GetRound of an unknown round: %v", what, err)
			}
			one := connect.NewClient[service.SubmitReportsRequest, service.SubmitReportsResponse](h, s.url+rounds+"SubmitBatch", options...)
			if resp, err := one.CallUnary(t.Context(), connect.NewRequest(s.batch(t, key))); err != nil || resp.Msg.GetAccepted() != 1 {
				t.Errorf("%s: SubmitBatch: %v, %v", what, resp, err)
			}
			many := connect.NewClient[service.SubmitReportsRequest, service.SubmitReportsResponse](h, s.url+rounds+"SubmitReports", options...).CallClientStream(t.Context())
			for range 3 {
				key++
				if err := many.Send(s.batch(t, key)); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			if resp, err := many.CloseAndReceive(); err != nil || resp.Msg.GetAccepted() != 3 {
				t.Errorf("%s: SubmitReports: %v, %v", what, resp, err)
			}
			key++
			model, err := connect.NewClient[service.GetModelRequest, service.GetModelResponse](h, s.url+rounds+"GetModel", options...).CallServerStream(t.Context(), connect.NewRequest(&service.GetModelRequest{}))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			var data []byte
			for model.Receive() {
				data = append(data, model.Msg().GetData()...)
			}
			if err := model.Err(); err != nil || !bytes.Equal(data, weights) {
				t.Errorf("%s: a model of %d bytes, %v, want %d", what, len(data), err, len(weights))
			}
		}
	}
}

// Nothing is reachable that a caller over gRPC is refused.
func TestRefusalsOverHTTP(t *testing.T) {
	s := serveHTTP(t, server.Config{Limits: limits.Limits{MaxMessageBytes: 64 << 10}})
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
	s := serveHTTP(t, server.Config{Limits: limits.Limits{ProgressTimeout: 100 * time.Millisecond}})
	head := func(method, kind string) string {
		return "POST " + rounds + method + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + kind + "\r\nContent-Length: 10000\r\n\r\n"
	}
	message, err := protojson.Marshal(s.batch(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	first := string(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
	refused := "\x00\x00\x00\x00\x02{}"
	for name, sent := range map[string]string{
		"a part of JSON":          head("SubmitBatch", "application/json") + `{"round`,
		"no body":                 head("GetRound", "application/json"),
		"a part of a message":     head("SubmitReports", "application/connect+json") + "\x00\x00\x00\x10",
		"after a good message":    head("SubmitReports", "application/connect+json") + first,
		"after a refused message": head("SubmitReports", "application/connect+json") + refused,
		"after a wrong type":      head("GetRound", "text/plain"),
		"a gRPC-Web message":      head("GetRound", "application/grpc-web+proto") + "\x00\x00\x00\x00\x00",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, sent); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection stays: %v", name, err)
		}
		_ = conn.Close()
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, _, _, load := s.Load(); load.Streams == 0 && load.HeldBytes == 0 && load.DecodingBytes == 0 && load.Connections == 0 {
			if load.Stalled == 0 {
				t.Error("no stalled call is counted")
			}
			break
		} else if time.Now().After(end) {
			t.Fatalf("calls are left: %+v", load)
		}
	}
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
}

// figure returns one figure of a registry.
func figure(t *testing.T, from prometheus.Gatherer, name, label, value string) float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if l := m.GetLabel(); f.GetName() == name && len(l) == 1 && l[0].GetName() == label && l[0].GetValue() == value {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no figure %s with %s %s", name, label, value)
	return 0
}
