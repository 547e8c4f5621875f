package mechanisms

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/privacy/verify"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// rounds are a round of each mechanism.
func rounds() []fl.Round {
	r := fl.Round{Dim: 4, Scale: 0.5, Epsilon: 4, Relation: fl.ReplaceOne, MinReports: 100, PublicSeed: [32]byte{1}}
	s, d, i := r, r, r
	s.ID, s.Mechanism, s.Params = "sparse", "example-sparse", fl.Params{"sparsity": fl.Int(2)}
	d.ID, d.Mechanism = "dense", "example-dense"
	i.ID, i.Mechanism = "item", "example-item"
	return []fl.Round{s, d, i}
}

func TestContract(t *testing.T) {
	for _, r := range rounds() {
		complete, _, err := fl.Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := fltest.Mechanism(complete, fltest.Options{}); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
}

// The law of a slot, by every choice of the code that runs. Package verify knows how for every sparse mechanism.
func TestSlotsKeepTheirPromise(t *testing.T) {
	report, err := verify.Round(t.Context(), rounds()[0], verify.Options{Seeds: 20})
	if err != nil || !report.Holds || report.Method != verify.Exact {
		t.Errorf("%+v, %v, want a proof", report, err)
	}
}

// The law of an item, likewise: the probabilities of a report differ by a factor of e^ε between two gradients, up to
// the rounding of the weights, and by no more.
func TestItemsKeepTheirPromise(t *testing.T) {
	r := rounds()[2]
	r.Dim = 2
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	most := new(big.Rat)
	var laws []map[uint32]*big.Rat
	for _, grad := range [][]float64{{0.5, 0.5}, {-0.5, -0.5}, {0.5, -0.5}} {
		law, err := exact.Enumerate(1<<20, func(choose exact.Chooser) (uint32, error) {
			return m.(item).draw(grad, corners{choose}), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		laws = append(laws, law)
	}
	for _, a := range laws {
		for _, b := range laws {
			for report := range uint32(4) {
				if ratio := new(big.Rat).Quo(a[report], b[report]); ratio.Cmp(most) > 0 {
					most = ratio
				}
			}
		}
	}
	if worst, _ := most.Float64(); worst > math.Exp(r.Epsilon) || worst < math.Exp(r.Epsilon)*(1-0x1p-24) {
		t.Errorf("a ratio of %g, want e^%g", worst, r.Epsilon)
	}
}

// corners gives the rounding of ±Scale, which is certain, and leaves all other choices to be enumerated.
type corners struct{ exact.Chooser }

func (c corners) Uniform(n uint64) uint64 {
	if n == 1<<32 {
		return 0
	}
	return c.Chooser.Uniform(n)
}

// Neither the stock server nor the stock client knows these mechanisms: they are registered, and that is all.
func TestInTheStockServer(t *testing.T) {
	srv, err := server.New(server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, server.Listeners{Clients: l}) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for _, r := range rounds() {
		t.Run(r.ID, func(t *testing.T) { hold(t, conn, r) })
	}
}

// hold holds a round of 20 000 clients. Their true mean must be within 6 standard errors of the estimate, in 12
// coordinates of all rounds together: the false-positive rate is below 3e-8. Where a gradient is not 0 the standard
// error is above the true error, which makes the rate smaller.
func hold(t *testing.T, conn *grpc.ClientConn, r fl.Round) {
	operator := client.NewOperator(conn)
	if _, err := operator.OpenRound(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 4, MinReports: 100}})
	if err != nil {
		t.Fatal(err)
	}
	part, err := c.Join(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded because this is a test
	truth := []float64{0.4, -0.3, 0.2, -0.1}
	reports := make([][]byte, 20_000)
	for i := range reports {
		if reports[i], err = part.Encode(nil, truth, rng); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := part.Submit(t.Context(), reports); err != nil {
		t.Fatal(err)
	}
	if err := operator.CloseRound(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	e, err := operator.Estimate(t.Context(), r.ID, false)
	if err != nil || e.Reports != 20_000 || e.Guarantee.Epsilon != 4 {
		t.Fatalf("%+v, %v", e, err)
	}
	for j, want := range truth {
		if off := math.Abs(e.Mean().Value[j] - want); off > 6*e.Mean().StdErr[j] {
			t.Errorf("coordinate %d is %g, want %g ± %g", j, e.Mean().Value[j], want, e.Mean().StdErr[j])
		}
	}
}
