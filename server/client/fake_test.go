package client_test

import (
	"context"
	"io"
	"math"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
	"github.com/hushgrad/hushgrad/server/client"
)

// liar is a server that answers what a test tells it to.
type liar struct {
	pb.UnimplementedRoundsServer
	pb.UnimplementedOperatorServer

	status    *pb.RoundStatus
	model     func(send func(*pb.GetModelResponse), done <-chan struct{})
	estimate  []*pb.GetEstimateResponse
	keyValues []*pb.GetKeyValuesResponse
	batches   []*pb.SubmitReportsRequest // received
}

func (l *liar) GetRound(context.Context, *pb.GetRoundRequest) (*pb.GetRoundResponse, error) {
	return &pb.GetRoundResponse{Status: l.status}, nil
}

func (l *liar) GetModel(_ *pb.GetModelRequest, stream grpc.ServerStreamingServer[pb.GetModelResponse]) error {
	l.model(func(m *pb.GetModelResponse) { _ = stream.Send(m) }, stream.Context().Done())
	return nil
}

func (l *liar) GetEstimate(_ *pb.GetEstimateRequest, stream grpc.ServerStreamingServer[pb.GetEstimateResponse]) error {
	for _, m := range l.estimate {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return nil
}

func (l *liar) GetKeyValues(_ *pb.GetKeyValuesRequest, stream grpc.ServerStreamingServer[pb.GetKeyValuesResponse]) error {
	for _, m := range l.keyValues {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return nil
}

func (l *liar) SubmitReports(stream grpc.ClientStreamingServer[pb.SubmitReportsRequest, pb.SubmitReportsResponse]) error {
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&pb.SubmitReportsResponse{Accepted: 7, Duplicates: 3})
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
		pb.RegisterRoundsServer(g, l)
		pb.RegisterOperatorServer(g, l)
	})
}

// dialRounds serves the clients' API alone.
func dialRounds(t *testing.T, rounds pb.RoundsServer) *grpc.ClientConn {
	t.Helper()
	return serve(t, func(g *grpc.Server) { pb.RegisterRoundsServer(g, rounds) })
}

func serve(t testing.TB, register func(*grpc.Server)) *grpc.ClientConn {
	t.Helper()
	g := grpc.NewServer()
	register(g)
	listener := bufconn.Listen(1 << 20)
	go func() { _ = g.Serve(listener) }()
	t.Cleanup(g.Stop)
	conn, err := grpc.NewClient("passthrough:///liar",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
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

// openRound is the status of a valid open round.
func openRound(t *testing.T) *pb.RoundStatus {
	t.Helper()
	r, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 3,
		PublicSeed: [32]byte{1}, Params: fl.Params{"sparsity": fl.Int(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &pb.RoundStatus{Round: r.Proto(), State: pb.RoundState_ROUND_STATE_OPEN}
}
