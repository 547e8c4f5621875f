package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// A model of 10^7 parameters: the model (80 MB of float64) and the estimate
// (160 MB with standard errors) travel in messages below gRPC's default limit,
// with and without zstd, over TCP.
func TestTenMillionParameters(t *testing.T) {
	dim := 10_000_000
	if testing.Short() {
		dim = 300_000
	}
	srv, err := server.New(server.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, server.Listeners{Clients: listener}) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	for _, opts := range [][]grpc.CallOption{{grpc.UseCompressor(client.Zstd)}, nil} {
		conn, err := grpc.NewClient(listener.Addr().String(),
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(opts...))
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, conn, dim, len(opts) == 0)
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

func roundTrip(t *testing.T, conn *grpc.ClientConn, dim int, again bool) {
	t.Helper()
	operator := client.NewOperator(conn)
	c, err := client.New(conn, client.Options{Policy: anything})
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]byte, 8*dim)
	_, _ = rand.NewChaCha8([32]byte{12}).Read(weights)
	if _, err := operator.PutModel(t.Context(), "application/octet-stream", weights); err != nil {
		t.Fatal(err)
	}
	model, err := c.Model(t.Context())
	if err != nil || !bytes.Equal(model.Data, weights) {
		t.Fatalf("the model of %d bytes did not come back: %v", len(weights), err)
	}
	r := cocoRound("large")
	if again {
		r.ID = "large-again"
	}
	r.Dim, r.MinReports = dim, 1
	if _, err := operator.OpenRound(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	part, err := c.Join(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	report := encode(t, part, 1)
	if _, err := part.Submit(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	if err := operator.CloseRound(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	got, err := operator.Estimate(t.Context(), r.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	agg := part.Mechanism().NewAggregator()
	if err := agg.Add(report[0]); err != nil {
		t.Fatal(err)
	}
	want, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	for j := range want.Value {
		if got.Value[j] != want.Value[j] || got.StdErr[j] != want.StdErr[j] {
			t.Fatalf("coordinate %d of %d: %g ± %g, want %g ± %g", j, dim, got.Value[j], got.StdErr[j], want.Value[j], want.StdErr[j])
		}
	}
}

// When its context ends the server lets a submission in progress finish.
func TestShutdownIsGraceful(t *testing.T) {
	srv, err := server.New(server.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), ShutdownTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	operators, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, server.Listeners{Clients: clients, Operator: operators}) }()

	dial := func(l net.Listener) *grpc.ClientConn {
		conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	asClient, asOperator := dial(clients), dial(operators)
	if _, err := client.NewOperator(asClient).OpenRound(t.Context(), cocoRound("r")); err == nil {
		t.Error("a client opened a round on the clients' listener")
	}
	opened, err := client.NewOperator(asOperator).OpenRound(t.Context(), cocoRound("r"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(opened)
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.Encode(nil, make([]float64, opened.Dim), fl.NewRand())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := service.NewRoundsClient(asClient).SubmitReports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(request(t, opened, 1, report)); err != nil {
		t.Fatal(err)
	}
	// The stream is known to the server once another call on it was answered.
	for resp := new(service.GetRoundResponse); resp.GetStatus().GetReports() == 0; {
		if resp, err = service.NewRoundsClient(asClient).GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := stream.Send(request(t, opened, 2, report)); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	resp, err := stream.CloseAndRecv()
	if err != nil || resp.GetAccepted() != 2 {
		t.Errorf("the submission in progress: %v, %v, want 2 accepted", resp, err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := service.NewRoundsClient(asClient).GetRound(t.Context(), &service.GetRoundRequest{}); err == nil {
		t.Error("the server still answers")
	}
}
