package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/sparse"
)

// gateway is a server with an open round whose HTTP listener is a gateway, and a relay that notes what it sees.
type gateway struct {
	url, key string // the relay's, and the gateway's
	behind   string // the URL of the gateway
	operator *client.Operator

	mu       sync.Mutex
	bodies   [][]byte
	headers  []http.Header
	lengths  []int // of responses
	answered func(w http.ResponseWriter) bool
}

func startGateway(t *testing.T) *gateway {
	t.Helper()
	key, err := ohttp.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	private, err := key.Text()
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler), OHTTPKeys: []string{private}})
	if err != nil {
		t.Fatal(err)
	}
	var listeners [3]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(ctx, server.Listeners{Clients: listeners[0], Operator: listeners[1], HTTP: listeners[2]})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	conn, err := grpc.NewClient(listeners[1].Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	g := &gateway{key: key.Config().Text(), operator: client.NewOperator(conn)}
	g.behind = "http://" + listeners[2].Addr().String() + ohttp.GatewayPath
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.carry(w, r) }))
	t.Cleanup(relay.Close)
	g.url = relay.URL
	r := fl.Round{ID: "r", Mechanism: coco.Name, Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 1, Params: fl.Params{sparse.ParamSparsity: fl.Int(4)}}
	if _, err := g.operator.OpenRound(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return g
}

// carry is what a relay does.
func (g *gateway) carry(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	g.bodies, g.headers = append(g.bodies, body), append(g.headers, r.Header)
	answered := g.answered
	g.mu.Unlock()
	if answered != nil && answered(w) {
		return
	}
	resp, err := http.Post(g.behind, ohttp.RequestType, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	g.mu.Lock()
	g.lengths = append(g.lengths, len(answer))
	g.mu.Unlock()
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(answer)
}

func (g *gateway) connect(t *testing.T) *client.Relayed {
	t.Helper()
	conn, err := client.NewRelayed(client.Relay{URL: g.url, GatewayKey: g.key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A client takes part through a relay, which sees messages of one length, and no header that names the client or the round.
func TestAReportGoesThroughARelay(t *testing.T) {
	g := startGateway(t)
	c, err := client.New(g.connect(t), client.Options{Policy: fl.Policy{MaxEpsilon: 2}})
	if err != nil {
		t.Fatal(err)
	}
	part, err := c.Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	report, err := part.Encode(nil, make([]float64, 20), nil)
	if err != nil {
		t.Fatal(err)
	}
	if receipt, err := part.Submit(t.Context(), [][]byte{report}); err != nil || receipt.Accepted != 1 {
		t.Fatalf("%+v, %v", receipt, err)
	}
	// A relay that sends a message again adds nothing.
	for _, body := range g.bodies {
		resp, err := http.Post(g.behind, ohttp.RequestType, bytes.NewReader(body))
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", resp, err)
		}
		_ = resp.Body.Close()
	}
	if all, err := g.operator.Rounds(t.Context()); err != nil || len(all) != 1 || all[0].Reports != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := g.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Errorf("the report is not counted: %v", err)
	}
	_, err = c.Join(t.Context(), "other")
	if status.Code(err) != codes.NotFound {
		t.Errorf("another round: %v", err)
	}
	if len(g.bodies) != 3 {
		t.Fatalf("%d messages", len(g.bodies))
	}
	for i, body := range g.bodies {
		if len(body) != len(g.bodies[0]) || g.lengths[i] != g.lengths[0] {
			t.Errorf("message %d has %d bytes and its response %d, the first ones %d and %d", i, len(body), g.lengths[i], len(g.bodies[0]), g.lengths[0])
		}
		for name := range g.headers[i] {
			if !slices.Contains([]string{"Content-Type", "Content-Length"}, name) {
				t.Errorf("the relay got %s: %s", name, g.headers[i].Get(name))
			}
		}
		if bytes.Contains(body, report) || bytes.Contains(body, []byte("GetRound")) || bytes.Contains(body, []byte("hushgrad")) {
			t.Errorf("message %d can be read", i)
		}
	}
}

// Errors are as gRPC has them, with their details.
func TestErrorsComeThroughARelay(t *testing.T) {
	g := startGateway(t)
	rounds := service.NewRoundsClient(g.connect(t))
	_, err := rounds.SubmitBatch(t.Context(), &service.SubmitReportsRequest{RoundId: "r", RoundDigest: []byte{1}})
	details := status.Convert(err).Details()
	if status.Code(err) != codes.InvalidArgument || len(details) != 1 || details[0].(*errdetails.BadRequest).GetFieldViolations()[0].GetField() != "round_digest" {
		t.Errorf("%v, %v", err, details)
	}
	if _, err := rounds.GetModel(t.Context(), &service.GetModelRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a stream: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rounds.GetRound(ctx, &service.GetRoundRequest{}); status.Code(err) != codes.Canceled {
		t.Errorf("a call that was given up: %v", err)
	}
	its, err := ohttp.ParseConfig("key", g.key)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ohttp.NewKey()
	for err == nil && key.Config().Bytes()[0] == its.Bytes()[0] { // the identifier is a byte
		key, err = ohttp.NewKey()
	}
	if err != nil {
		t.Fatal(err)
	}
	other := &gateway{url: g.url, key: key.Config().Text()}
	if _, err := service.NewRoundsClient(other.connect(t)).GetRound(t.Context(), &service.GetRoundRequest{}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("another key: %v", err)
	}
	for name, c := range map[string]struct {
		answered func(http.ResponseWriter)
		code     codes.Code
	}{
		"a busy relay":   {func(w http.ResponseWriter) { http.Error(w, "x", http.StatusTooManyRequests) }, codes.Unavailable},
		"a lonely relay": {func(w http.ResponseWriter) { http.Error(w, "x", http.StatusBadGateway) }, codes.Unavailable},
		"a redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, codes.Internal},
		"a web page": {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "hello") }, codes.Internal},
		"a made-up answer": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", ohttp.ResponseType)
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		}, codes.Internal},
		"a long answer": {func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 9<<20)) }, codes.ResourceExhausted},
	} {
		g.mu.Lock()
		g.answered = func(w http.ResponseWriter) bool { c.answered(w); return true }
		g.mu.Unlock()
		if _, err := rounds.GetRound(t.Context(), &service.GetRoundRequest{}); status.Code(err) != c.code {
			t.Errorf("%s: %v, want %v", name, err, c.code)
		}
	}
}

func TestRelaysThatAreRefused(t *testing.T) {
	key, err := ohttp.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	good := client.Relay{URL: "https://relay.example:7129/x", GatewayKey: key.Config().Text()}
	if _, err := client.NewRelayed(good); err != nil {
		t.Error(err)
	}
	for param, change := range map[string]func(*client.Relay){
		"URL":        func(r *client.Relay) { r.URL = "http://relay.example" },
		"GatewayKey": func(r *client.Relay) { r.GatewayKey = "AAAA" },
	} {
		r := good
		change(&r)
		var p *fl.ParamError
		if _, err := client.NewRelayed(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
}
