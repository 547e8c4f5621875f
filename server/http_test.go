package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
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
	t.Parallel() // it mostly waits
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
