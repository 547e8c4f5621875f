package server_test

import (
	"math"
	"reflect"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	_ "github.com/hushgrad/hushgrad/baseline"
	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
)

// peers is a running server and its two kinds of callers.
type peers struct {
	conn     *grpc.ClientConn
	client   *client.Client
	operator *client.Operator
	rounds   service.RoundsClient
	close    func() error // before the test ends
}

// anything is the policy of a client that accepts every round.
var anything = fl.Policy{MaxEpsilon: math.Inf(1), MaxDelta: 1}

// start runs a server in memory until the test ends.
func start(t testing.TB, cfg server.Config) *peers {
	t.Helper()
	return meet(t, func() (*servertest.Server, error) { return servertest.Start(cfg) })
}

// meet connects to what begin starts, until the test ends.
func meet(t testing.TB, begin func() (*servertest.Server, error)) *peers {
	t.Helper()
	s, err := begin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	c, err := s.Client(anything)
	if err != nil {
		t.Fatal(err)
	}
	return &peers{conn: s.Conn(), client: c, operator: s.Operator(), rounds: service.NewRoundsClient(s.Conn()), close: s.Close}
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

// estimateOf returns what a local aggregator estimates from the reports.
func estimateOf(t testing.TB, m fl.Mechanism, reports [][]byte) *fl.Estimate {
	t.Helper()
	agg := m.NewAggregator()
	for _, report := range reports { // one by one, unlike the server
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return e
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

	if want := estimateOf(t, part.Mechanism(), reports); got.Reports != 50 || got.Mechanism != "coco" || !reflect.DeepEqual(got, want) {
		t.Errorf("estimate %+v, want %+v", got, want)
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

func TestHealth(t *testing.T) {
	p := start(t, server.Config{})
	resp, err := healthpb.NewHealthClient(p.conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", resp, err)
	}
}

func TestReflectionIsOffUnlessAskedFor(t *testing.T) {
	stream, err := reflectionpb.NewServerReflectionClient(start(t, server.Config{}).conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Unimplemented {
		t.Errorf("reflection that is off: %v", err)
	}
	p := start(t, server.Config{Reflection: true})
	stream, err = reflectionpb.NewServerReflectionClient(p.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{},
	}); err != nil {
		t.Fatal(err)
	}
	list, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range list.GetListServicesResponse().GetService() {
		names[s.GetName()] = true
	}
	if !names["hushgrad.v1.Rounds"] || !names["hushgrad.v1.Operator"] {
		t.Errorf("reflection lists %v", names)
	}
	if err := stream.CloseSend(); err != nil {
		t.Error(err)
	}
}

// The mechanism of the example does everything that the server may ask of one.
func TestTheToyKeepsTheContract(t *testing.T) {
	round, _, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: "toy-warner", Dim: 5, Scale: 0.5, Epsilon: 1, MinReports: 10, PublicSeed: [32]byte{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := fltest.Mechanism(round, fltest.Options{}); err != nil {
		t.Error(err)
	}
}
