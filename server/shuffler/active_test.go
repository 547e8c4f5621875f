package shuffler

import (
	"bytes"
	"net"
	"path/filepath"
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

// shares returns what a server of one side has of the reports that count. The first server opens the seals of its own key. The second one's
// share of the client is in item, which is open to that server alone.
func (a *activeServer) shares(t *testing.T, side fl.ShareSide, item []byte, shareKey *seal.Key) map[[32]byte][]byte {
	t.Helper()
	first := a.round.mechanism.(fl.SharedMechanism).ShareBytes(fl.FirstServer)
	out := map[[32]byte][]byte{}
	for sealed := range a.known {
		if out[seal.ID([]byte(sealed))] = a.own[:first]; side == fl.SecondServer {
			out[seal.ID([]byte(sealed))] = a.own[first:]
		}
	}
	var share []byte
	var err error
	if side == fl.SecondServer {
		share, _, err = shareKey.NewShareOpener(a.round.format, a.round.digest).Open(item)
	} else if share, err = a.key.NewOpener(a.round.digest).Open(a.victim); err == nil {
		share = share[:first]
	}
	if err != nil {
		t.Fatal(err)
	}
	out[seal.ID(a.victim)] = share
	return out
}

// The ε of gaussian-shares holds against an active server. A first server that makes up all reports of a round but one learns the one
// client's gradient with the second server's whole noise. It rejects the other clients, or closes the round while there is only one. It
// knows its own noise, and subtracts it. The shuffler is a process of its own, and the clients are real ones.
func TestAnActiveFirstServerLearnsNoGradient(t *testing.T) {
	for name, honest := range map[string]int{"it rejects all but one": 30, "it closes with one": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			dir := t.TempDir()
			shareKey := newestOf(t, filepath.Join(dir, "share-keys"))
			dishonest := newActiveServer(t, shareKey.Public())
			r := dishonest.round
			process := startProcess(t, "shuffler", dir, dishonest.address)
			var items [][]byte // for the control
			conn, err := dial(startProxy(t, process.address, func(item []byte) { items = append(items, bytes.Clone(item)) }))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			dishonest.pad(t, service.NewRoundsClient(conn))
			gradients := normalGradients(honest, r.Dim)
			for _, gradient := range gradients {
				participate(t, conn, r, gradient)
			}
			dishonest.close("r")
			eventually(t, "the sum", func() bool { _, complete := dishonest.got(); return complete })
			own := released(t, r.addShares(t, fl.FirstServer, dishonest.shares(t, fl.FirstServer, nil, nil)), knownRand())
			got, noise := r.total(t, own, dishonest.completed.GetShareSum()), r.knownNoise(t)
			floats.Sub(got, noise)

			victim := slices.IndexFunc(items, func(item []byte) bool { return bytes.HasPrefix(item, dishonest.victim) })
			second := r.addShares(t, fl.SecondServer, dishonest.shares(t, fl.SecondServer, items[victim], shareKey))
			bare := r.total(t, own, released(t, second, knownRand()))
			floats.AddScaled(bare, -2, noise)
			r.requireNoGradient(t, got, bare, gradients)
		})
	}
}

// participate sends one report of a client that asks for the mechanism by its name.
func participate(t *testing.T, conn grpc.ClientConnInterface, r *sealedRound, gradient []float64) {
	t.Helper()
	c, err := client.New(conn, client.Options{Policy: fl.Policy{
		MaxEpsilon: 1, MaxDelta: 1e-6, MinReports: 1000, Mechanisms: []string{hdsum.SharesName},
		Shuffled: &fl.ShuffledPolicy{Shufflers: []string{testName}, SealKeys: [][32]byte{seal.FingerprintOf(r.SealKey)}, ShareKeys: [][32]byte{seal.FingerprintOf(r.ShareKey)}},
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
