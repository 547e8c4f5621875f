package server_test

import (
	"context"
	"io"
	"log/slog"
	"math"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	_ "github.com/hushgrad/hushgrad/baseline/dense"
	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// peers is a running server and its two kinds of callers.
type peers struct {
	conn     *grpc.ClientConn
	client   *client.Client
	operator *client.Operator
	rounds   service.RoundsClient
}

// anything is the policy of a client that accepts every round.
var anything = fl.Policy{MaxEpsilon: math.Inf(1), MaxDelta: 1}

// start runs a server on an in-memory listener until the test ends.
func start(t testing.TB, cfg server.Config) *peers {
	t.Helper()
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener := bufconn.Listen(1 << 20)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, server.Listeners{Clients: listener}) }()
	p := connect(t, listener)
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return p
}

func connect(t testing.TB, listener *bufconn.Listener) *peers {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///server",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c, err := client.New(conn, client.Options{Policy: anything})
	if err != nil {
		t.Fatal(err)
	}
	return &peers{conn: conn, client: c, operator: client.NewOperator(conn), rounds: service.NewRoundsClient(conn)}
}

// cocoRound is a small valid round that its server completes.
func cocoRound(id string) fl.Round {
	return fl.Round{
		ID: id, Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 3,
		Params: fl.Params{"sparsity": fl.Int(4)},
	}
}

func open(t testing.TB, p *peers, r fl.Round) fl.Round {
	t.Helper()
	opened, err := p.operator.OpenRound(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func join(t testing.TB, p *peers, id string) *client.Participation {
	t.Helper()
	part, err := p.client.Join(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// encode returns n reports of one gradient.
func encode(t testing.TB, part *client.Participation, n int) [][]byte {
	t.Helper()
	grad := make([]float64, part.Round().Dim)
	grad[1], grad[2] = 0.5, -0.25
	rng := fl.NewRand()
	reports := make([][]byte, n)
	for i := range reports {
		var err error
		if reports[i], err = part.Encode(nil, grad, rng); err != nil {
			t.Fatal(err)
		}
	}
	return reports
}

func wantCode(t testing.TB, what string, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("%s: code %v, want %v (error: %v)", what, got, want, err)
	}
}

func TestARoundFromOpenToEstimate(t *testing.T) {
	p := start(t, server.Config{})
	opened := open(t, p, cocoRound("r1"))
	if !opened.Params.Has("slots") || opened.PublicSeed == [32]byte{} || opened.Relation != fl.ReplaceOne {
		t.Errorf("the server left something open: %+v", opened)
	}
	part := join(t, p, "")
	if !part.Round().Equal(opened) {
		t.Errorf("clients see %+v, the operator %+v", part.Round(), opened)
	}
	reports := encode(t, part, 50)
	receipt, err := part.Submit(t.Context(), reports)
	if err != nil || receipt.Accepted != 50 || receipt.Duplicates != 0 {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	if err := p.operator.CloseRound(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	got, err := p.operator.Estimate(t.Context(), "r1", false)
	if err != nil {
		t.Fatal(err)
	}

	agg := part.Mechanism().NewAggregator()
	for _, r := range reports {
		if err := agg.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	want, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	if got.Reports != 50 || got.Mechanism != "coco" || got.Guarantee != want.Guarantee {
		t.Errorf("estimate of %d reports by %s under %v", got.Reports, got.Mechanism, got.Guarantee)
	}
	for j := range want.Value {
		if got.Value[j] != want.Value[j] || got.StdErr[j] != want.StdErr[j] {
			t.Fatalf("coordinate %d: %g ± %g, want %g ± %g", j, got.Value[j], got.StdErr[j], want.Value[j], want.StdErr[j])
		}
	}
}

func TestPolicyRefusesBeforeEncoding(t *testing.T) {
	p := start(t, server.Config{})
	open(t, p, cocoRound("r"))
	for name, policy := range map[string]fl.Policy{
		"zero policy":    {},
		"epsilon":        {MaxEpsilon: 1.9},
		"too few others": {MaxEpsilon: 2, MinReports: 4},
	} {
		c, err := client.New(p.conn, client.Options{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Join(t.Context(), "r"); err == nil {
			t.Errorf("%s: joined", name)
		}
	}
	c, err := client.New(p.conn, client.Options{Policy: fl.Policy{MaxEpsilon: 2, MinReports: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Join(t.Context(), "r"); err != nil {
		t.Errorf("a policy that the round meets: %v", err)
	}
}
