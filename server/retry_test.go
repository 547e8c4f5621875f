package server_test

import (
	"log/slog"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
)

// flaky runs a server inside a gRPC server of the test's own, whose first
// failures submissions are counted and then reported as lost.
func flaky(t *testing.T, failures int64) *peers {
	t.Helper()
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	g := grpc.NewServer(grpc.StreamInterceptor(func(s any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if info.FullMethod != "/hushgrad.v1.Rounds/SubmitReports" || calls.Add(1) > failures {
			return handler(s, stream)
		}
		if err := handler(s, swallow{stream}); err != nil {
			return err
		}
		return status.Error(codes.Unavailable, "connection lost")
	}))
	srv.RegisterRounds(g)
	srv.RegisterOperator(g)
	return meet(t, func() (*servertest.Server, error) { return servertest.StartGRPC(g) })
}

// swallow drops the server's answer.
type swallow struct{ grpc.ServerStream }

func (swallow) SendMsg(any) error { return nil }

func TestARetryAfterALostAnswerCountsNothingTwice(t *testing.T) {
	t.Parallel() // it mostly waits
	p := flaky(t, 2)
	open(t, p, cocoRound("r"))
	c, err := client.New(p.conn, client.Options{Policy: anything, BatchBytes: 40})
	if err != nil {
		t.Fatal(err)
	}
	part, err := c.Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	reports := encode(t, part, 10)
	receipt, err := part.Submit(t.Context(), reports)
	if err != nil || receipt.Accepted != 0 || receipt.Duplicates != 10 {
		t.Errorf("receipt %+v, %v, want 10 duplicates", receipt, err)
	}
	if err := p.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if e, err := p.operator.Estimate(t.Context(), "r", false); err != nil || e.Reports != 10 {
		t.Errorf("estimate: %v, %v, want 10 reports", e, err)
	}
}

func TestRetriesEnd(t *testing.T) {
	p := flaky(t, 100)
	open(t, p, cocoRound("r"))
	c, err := client.New(p.conn, client.Options{Policy: anything, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	part, err := c.Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	_, err = part.Submit(t.Context(), encode(t, part, 1))
	wantCode(t, "two lost answers with two attempts", err, codes.Unavailable)
}
