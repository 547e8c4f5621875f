package shuffler

import (
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/shares"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/rotation"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// activeServer is a first server that does not follow the protocol, at a port of its own.
type activeServer struct {
	*recorder
	address string
	key     *seal.Key
	round   *sealedRound
	own     []byte          // the report that it has made up
	known   map[string]bool // sealed copies of own
	victim  []byte          // the one sealed report of a client that it counts
}

// newActiveServer opens a round of shares whose key it has.
func newActiveServer(t *testing.T, levels int) *activeServer {
	t.Helper()
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &activeServer{recorder: newRecorder(), address: l.Addr().String(), key: key, known: map[string]bool{}}
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, a)
	service.RegisterShuffledServer(g, a)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	a.round = newSealedRound(t, func(r *fl.Round) {
		r.Mechanism, r.Params, r.Epsilon, r.Delta = shares.Name, nil, 1, 1e-6
		r.Dim, r.MinReports, r.SealKey = 1024, 1000, key.Public()
		if levels > 0 {
			r.Params = fl.Params{shares.ParamLevels: fl.Int(levels)}
		}
	})
	a.open(a.round.Round)
	a.reject = func(sealed []byte) bool {
		if a.known[string(sealed)] {
			return false
		}
		if a.victim == nil {
			a.victim = sealed
		}
		return string(sealed) != string(a.victim)
	}
	return a
}

// pad sends the round's minimum of reports but one to the shuffler: seals of one report of zeros.
func (a *activeServer) pad(t *testing.T, shuffler service.RoundsClient) {
	t.Helper()
	sealer, err := seal.NewItemSealer(a.round.Round, a.round.mechanism)
	if err == nil {
		a.own, err = a.round.mechanism.Encode(nil, make([]float64, a.round.Dim), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	items, err := sealer.Items(slices.Repeat([][]byte{a.own}, a.round.MinReports-1))
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(items, 100) {
		if _, err := sendTo(t.Context(), shuffler, &service.SubmitReportsRequest{RoundId: a.round.ID, RoundDigest: a.round.digest[:], Reports: slices.Concat(part...)}); err != nil {
			t.Fatal(err)
		}
	}
	a.with(func() {
		for _, item := range items {
			a.known[string(item[:a.round.format.Sealed])] = true
		}
	})
}

// read returns what the sum of the second server shows of one client's gradient, and the share of
// rotated coordinates without noise.
func (a *activeServer) read(t *testing.T, sum []byte) (grad []float64, bare float64) {
	t.Helper()
	m := a.round.mechanism.(fl.SharedMechanism)
	first, err := m.NewShareAggregator(fl.FirstServer)
	if err != nil {
		t.Fatal(err)
	}
	opener := a.key.NewOpener(a.round.digest)
	for sealed := range a.known {
		a.add(t, first, opener, []byte(sealed))
	}
	a.add(t, first, opener, a.victim)
	released, err := first.Release()
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Combine(released, sum)
	if err != nil {
		t.Fatal(err)
	}
	n := a.round.MinReports
	copies := m.NewAggregator() // of the report that it knows
	for range n {
		if err := copies.Add(a.own); err != nil {
			t.Fatal(err)
		}
	}
	own, err := copies.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	grad = make([]float64, a.round.Dim)
	for i := range grad {
		grad[i] = float64(n)*all.Mean().Value[i] - float64(n-1)*own.Mean().Value[i]
	}
	return a.denoise(t, grad)
}

func (a *activeServer) add(t *testing.T, to fl.ShareAggregator, opener *seal.Opener, sealed []byte) {
	t.Helper()
	plain, err := opener.Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	id := seal.ID(sealed)
	if err := to.Add(id[:], plain[:a.round.mechanism.(fl.SharedMechanism).ShareBytes(fl.FirstServer)]); err != nil {
		t.Fatal(err)
	}
}

// denoise leaves out the rotated coordinates that no gradient has: they have noise.
func (a *activeServer) denoise(t *testing.T, grad []float64) (out []float64, bare float64) {
	t.Helper()
	key, err := a.round.PublicKey("hdsum/signs")
	if err != nil {
		t.Fatal(err)
	}
	r, err := rotation.New(a.round.Dim, key)
	if err != nil {
		t.Fatal(err)
	}
	rotated := make([]float64, r.PaddedDim())
	if err := r.Forward(rotated, grad); err != nil {
		t.Fatal(err)
	}
	width, err := a.round.Params.Real(shares.ParamRange)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range rotated {
		if math.Abs(v) > width*a.round.Scale*(1+1e-6) {
			rotated[i] = 0
			continue
		}
		bare += 1 / float64(len(rotated))
	}
	out = make([]float64, len(grad))
	if err := r.Inverse(out, rotated); err != nil {
		t.Fatal(err)
	}
	return out, bare
}

func cosine(a, b []float64) float64 {
	ab, aa, bb := 0., 0., 0.
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

// The ε of sumdp-shares holds against passive servers only, as its guarantee says. A first server that
// makes up all reports of a round but one reads the gradient of the one client. It rejects the other
// clients, or closes the round while there is only one: then it rejects nobody, so that no limit on
// rejected reports would help. The shuffler is a process of its own, and the clients are real ones.
//
// A mechanism that holds against active servers has a cosine below chance here. Of 30 gradients that it
// has nothing to do with, the largest of 1024 normal coordinates is above 0.2 with probability 1e-9.
func TestAnActiveFirstServerReadsAGradient(t *testing.T) {
	const chance = 0.2
	for name, c := range map[string]struct{ honest, levels int }{
		"it rejects all but one":       {30, 0},
		"it closes with one":           {1, 0},
		"it has chosen the resolution": {1, 1024},
	} {
		t.Run(name, func(t *testing.T) {
			dishonest := newActiveServer(t, c.levels)
			process := startProcess(t, "shuffler", t.TempDir(), dishonest.address)
			conn, err := dial(process.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			dishonest.pad(t, service.NewRoundsClient(conn))
			rng := rand.New(rand.NewPCG(3, uint64(c.honest)))
			gradients := make([][]float64, c.honest)
			for i := range gradients {
				gradients[i] = make([]float64, dishonest.round.Dim)
				for j := range gradients[i] {
					gradients[i][j] = rng.NormFloat64()
				}
				participate(t, conn, dishonest, gradients[i])
			}
			dishonest.close("r")
			eventually(t, "the sum", func() bool { _, complete := dishonest.got(); return complete })
			got, bare := dishonest.read(t, dishonest.completed.GetShareSum())
			best := -1.
			for _, gradient := range gradients {
				best = max(best, cosine(got, gradient))
			}
			t.Logf("cosine %.3f with a client's gradient, %.1f %% of its rotated coordinates without noise", best, 100*bare)
			if best < 3*chance { // the words about passive servers would say too little
				t.Errorf("cosine %.3f: the guarantee may hold against active servers, and the pages say that it does not", best)
			}
		})
	}
}

// participate sends one report of a client that asks for the mechanism by its name.
func participate(t *testing.T, conn grpc.ClientConnInterface, to *activeServer, gradient []float64) {
	t.Helper()
	c, err := client.New(conn, client.Options{Policy: fl.Policy{
		MaxEpsilon: 1, MaxDelta: 1e-6, MinReports: 1000, Mechanisms: []string{shares.Name},
		Shuffled: &fl.ShuffledPolicy{Shufflers: []string{testName}, SealKeys: [][32]byte{to.key.Fingerprint()}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if g := p.Guarantee(); g.Trust != fl.TwoServers {
		t.Errorf("the client reports under %v", g)
	}
	report, err := p.Encode(nil, gradient, nil)
	if err == nil {
		_, err = p.Submit(t.Context(), [][]byte{report})
	}
	if err != nil {
		t.Fatal(err)
	}
}
