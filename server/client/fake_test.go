package client_test

import (
	"context"
	"io"
	"math"
	"testing"

	"google.golang.org/grpc"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
)

// liar is a server that answers what a test wants it to.
type liar struct {
	service.UnimplementedRoundsServer
	service.UnimplementedOperatorServer

	status   *service.RoundStatus
	listed   []*service.RoundStatus
	model    func(send func(*service.GetModelResponse), done <-chan struct{})
	estimate []*service.GetEstimateResponse
	batches  []*service.SubmitReportsRequest // received
}

func (l *liar) GetRound(context.Context, *service.GetRoundRequest) (*service.GetRoundResponse, error) {
	return &service.GetRoundResponse{Status: l.status}, nil
}

func (l *liar) ListRounds(_ *service.ListRoundsRequest, stream grpc.ServerStreamingServer[service.ListRoundsResponse]) error {
	for _, s := range l.listed {
		if err := stream.Send(&service.ListRoundsResponse{Status: s}); err != nil {
			return err
		}
	}
	return nil
}

func (l *liar) GetModel(_ *service.GetModelRequest, stream grpc.ServerStreamingServer[service.GetModelResponse]) error {
	l.model(func(m *service.GetModelResponse) { _ = stream.Send(m) }, stream.Context().Done())
	return nil
}

func (l *liar) GetEstimate(_ *service.GetEstimateRequest, stream grpc.ServerStreamingServer[service.GetEstimateResponse]) error {
	for _, m := range l.estimate {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return nil
}

func (l *liar) SubmitReports(stream grpc.ClientStreamingServer[service.SubmitReportsRequest, service.SubmitReportsResponse]) error {
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&service.SubmitReportsResponse{Accepted: 7, Duplicates: 3})
		}
		if err != nil {
			return err
		}
		l.batches = append(l.batches, req)
	}
}

// anything is the policy of a client that accepts every round.
var anything = fl.Policy{MaxEpsilon: math.Inf(1), MaxDelta: 1}

// dial serves l in memory until the test ends.
func dial(t testing.TB, l *liar) *grpc.ClientConn {
	t.Helper()
	return serve(t, func(g *grpc.Server) {
		service.RegisterRoundsServer(g, l)
		service.RegisterOperatorServer(g, l)
	})
}

// dialRounds serves the clients' API alone.
func dialRounds(t *testing.T, rounds service.RoundsServer) *grpc.ClientConn {
	t.Helper()
	return serve(t, func(g *grpc.Server) { service.RegisterRoundsServer(g, rounds) })
}

func serve(t testing.TB, register func(*grpc.Server)) *grpc.ClientConn {
	t.Helper()
	g := grpc.NewServer(grpc.MaxRecvMsgSize(128 << 20)) // the longest reports
	register(g)
	s, err := servertest.StartGRPC(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.Conn()
}

func newClient(t *testing.T, conn grpc.ClientConnInterface, opts client.Options) *client.Client {
	t.Helper()
	opts.Policy = anything
	c, err := client.New(conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openStatus completes a round and returns the status of the open round.
func openStatus(t *testing.T, r fl.Round) *service.RoundStatus {
	t.Helper()
	r, _, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return &service.RoundStatus{Round: r.Proto(), State: service.RoundState_ROUND_STATE_OPEN}
}

// openRound is the status of a valid open round.
func openRound(t *testing.T) *service.RoundStatus {
	t.Helper()
	return openStatus(t, fl.Round{
		ID: "r", Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 3,
		PublicSeed: [32]byte{1}, Params: fl.Params{"sparsity": fl.Int(4)},
	})
}

// openTiers is the status of an open round with a menu.
func openTiers(t *testing.T) *service.RoundStatus {
	t.Helper()
	return openStatus(t, fl.Round{
		ID: "r", Mechanism: "tiers", Dim: 20, Scale: 0.5, Epsilon: 8, MinReports: 3, PublicSeed: [32]byte{1},
		Params: fl.Params{"base": fl.Text("coco"), "menu": fl.Text("0.5,2,8"), "sparsity": fl.Int(4)},
	})
}
