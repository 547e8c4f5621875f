package shuffler

import (
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
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

// newActiveServer opens a round of shares. It has the round's seal key, and not the share key.
func newActiveServer(t *testing.T, shareKey []byte) *activeServer {
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
		r.Mechanism, r.Params, r.Epsilon, r.Delta = hdsum.SharesName, nil, 1, 1e-6
		r.Dim, r.MinReports, r.SealKey, r.ShareKey = 1024, 1000, key.Public(), shareKey
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

// read returns what the sum of the second server shows of one client's gradient. The first server knows all other reports, which are of
// zeros, and adds no noise of its own: the mean of many releases has next to none.
func (a *activeServer) read(t *testing.T, sum []byte) []float64 {
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
	grad := make([]float64, a.round.Dim)
	const releases = 200
	for range releases {
		released, err := first.Release(nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := m.Combine(released, sum)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range all.Mean().Value {
			grad[i] += float64(a.round.MinReports) * v / releases
		}
	}
	return grad
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

func cosine(a, b []float64) float64 {
	ab, aa, bb := 0., 0., 0.
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

// The ε of gaussian-shares holds against an active server. A first server that makes up all reports of a round but one learns the one
// client's gradient with the second server's whole noise. It rejects the other clients, or closes the round while there is only one.
// The shuffler is a process of its own, and the clients are real ones.
//
// Of 30 gradients that it has nothing to do with, the largest cosine of 1024 normal coordinates is above 0.2 with probability
// 1e-9. The squared length of the noise of 1024 coordinates is within 25 % of its mean but with probability 2e-8.
func TestAnActiveFirstServerLearnsNoGradient(t *testing.T) {
	for name, honest := range map[string]int{"it rejects all but one": 30, "it closes with one": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			dir := t.TempDir()
			dishonest := newActiveServer(t, shareKeyIn(t, dir))
			process := startProcess(t, "shuffler", dir, dishonest.address)
			conn, err := dial(process.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			dishonest.pad(t, service.NewRoundsClient(conn))
			rng := rand.New(rand.NewPCG(3, uint64(honest)))
			gradients := make([][]float64, honest)
			for i := range gradients {
				gradients[i] = make([]float64, dishonest.round.Dim)
				for j := range gradients[i] {
					gradients[i][j] = rng.NormFloat64()
				}
				participate(t, conn, dishonest, gradients[i])
			}
			dishonest.close("r")
			eventually(t, "the sum", func() bool { _, complete := dishonest.got(); return complete })
			got := dishonest.read(t, dishonest.completed.GetShareSum())
			best := -1.
			for _, gradient := range gradients {
				best = max(best, cosine(got, gradient))
			}
			// One server's noise hides a change of 2·Scale and a little more.
			g := dishonest.round.mechanism.Guarantee()
			noise := 2 * dishonest.round.Scale * g.Sigma * math.Sqrt(float64(dishonest.round.Dim))
			t.Logf("cosine %.3f with a client's gradient, %.3f of one server's noise", best, floats.Norm(got, 2)/noise)
			if best > 0.2 {
				t.Errorf("cosine %.3f with a client's gradient", best)
			}
			if ratio := floats.Norm(got, 2) / noise; !(ratio > 0.87 && ratio < 1.13) {
				t.Errorf("what it learns has %.3f times the noise of one server", ratio)
			}
		})
	}
}

// participate sends one report of a client that asks for the mechanism by its name.
func participate(t *testing.T, conn grpc.ClientConnInterface, to *activeServer, gradient []float64) {
	t.Helper()
	c, err := client.New(conn, client.Options{Policy: fl.Policy{
		MaxEpsilon: 1, MaxDelta: 1e-6, MinReports: 1000, Mechanisms: []string{hdsum.SharesName},
		Shuffled: &fl.ShuffledPolicy{Shufflers: []string{testName}, SealKeys: [][32]byte{to.key.Fingerprint()}, ShareKeys: [][32]byte{seal.FingerprintOf(to.round.ShareKey)}},
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
