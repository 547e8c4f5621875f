package shuffler

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
	"github.com/hushgrad/hushgrad/sparse"
)

// sealedRound is a round for the shuffler of the tests, with the sealer of its clients.
type sealedRound struct {
	fl.Round
	digest    [32]byte
	mechanism fl.Mechanism
	format    seal.Format
	sealer    *seal.ItemSealer
	rng       *rand.Rand
}

func newSealedRound(t testing.TB, change func(*fl.Round)) *sealedRound {
	t.Helper()
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	r := fl.Round{
		ID: "r", Mechanism: coco.Name, Dim: 20, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: 5,
		PublicSeed: [32]byte{1}, Shuffler: testName, SealKey: key.Public(),
		Params: fl.Params{sparse.ParamSparsity: fl.Int(2)},
	}
	if change != nil {
		change(&r)
	}
	if r.Mechanism == hdsum.SharesName && r.ShareKey == nil {
		r.ShareKey = newestOf(t, shareKeys()).Public()
	}
	out := &sealedRound{rng: rand.New(rand.NewPCG(1, 2))}
	if out.Round, out.mechanism, err = fl.Complete(r); err != nil {
		t.Fatal(err)
	}
	if out.digest, err = out.Digest(); err != nil {
		t.Fatal(err)
	}
	if out.format, err = seal.FormatOf(out.Round, out.mechanism); err != nil {
		t.Fatal(err)
	}
	if out.sealer, err = seal.NewItemSealer(out.Round, out.mechanism); err != nil {
		t.Fatal(err)
	}
	return out
}

// shareKeys is the directory of the keys for second shares of all shufflers of the tests.
var shareKeys = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "share-keys-")
	if err != nil {
		panic(err)
	}
	return dir
})

// items returns what n clients send.
func (r *sealedRound) items(t testing.TB, n int) [][]byte {
	t.Helper()
	out := make([][]byte, n)
	for i := range out {
		report, err := r.mechanism.Encode(nil, make([]float64, r.Dim), r.rng)
		if err == nil {
			out[i], err = r.sealer.Item(report, make([]byte, r.format.Token))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// party is a shuffler with its clients and its server.
type party struct {
	*Shuffler
	server  *recorder
	conn    *grpc.ClientConn // of the clients
	clients service.RoundsClient
}

// start runs a shuffler on cfg.Journal, in front of a server.
func start(t testing.TB, cfg Config, server *recorder) *party {
	t.Helper()
	if cfg.Upstream == nil {
		cfg.Upstream = server.serve(t)
	}
	if cfg.Name == "" {
		cfg.Name = testName
	}
	if cfg.Journal == nil {
		cfg.Journal = journal.NewMemory()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Keys == nil {
		var err error
		if cfg.Keys, err = seal.OpenKeys(shareKeys(), seal.X25519); err != nil {
			t.Fatal(err)
		}
	}
	if cfg.every == 0 {
		cfg.every = 20 * time.Millisecond
	}
	if cfg.Floor == 0 {
		cfg.Floor = 1
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	s.Register(g)
	p := &party{Shuffler: s, server: server, conn: conn(t, g)}
	p.clients = service.NewRoundsClient(p.conn)
	t.Cleanup(s.Close)
	return p
}

// send sends one message.
func (p *party) send(ctx context.Context, r *sealedRound, items ...[]byte) (*service.SubmitReportsResponse, error) {
	return sendTo(ctx, p.clients, &service.SubmitReportsRequest{
		RoundId: r.ID, RoundDigest: r.digest[:], Reports: slices.Concat(items...),
	})
}

func sendTo(ctx context.Context, clients service.RoundsClient, req *service.SubmitReportsRequest) (*service.SubmitReportsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	stream, err := clients.SubmitReports(ctx)
	if err != nil {
		return nil, err
	}
	_ = stream.Send(req) // CloseAndRecv has the reason
	return stream.CloseAndRecv()
}

// keeps checks that a message is answered with a receipt.
func (p *party) keeps(t testing.TB, r *sealedRound, accepted, duplicates int, items ...[]byte) {
	t.Helper()
	got, err := p.send(t.Context(), r, items...)
	if err != nil || got.GetAccepted() != uint64(accepted) || got.GetDuplicates() != uint64(duplicates) {
		t.Fatalf("%d accepted and %d duplicates, %v; want %d and %d", got.GetAccepted(), got.GetDuplicates(), err, accepted, duplicates)
	}
}

// refuses checks that a message is refused with a code.
func (p *party) refuses(t testing.TB, what string, code codes.Code, r *sealedRound, items ...[]byte) {
	t.Helper()
	if got, err := p.send(t.Context(), r, items...); status.Code(err) != code {
		t.Errorf("%s: %v, %v, want %v", what, got, err, code)
	}
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within two minutes", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// gone waits until the round has ended.
func (p *party) gone(t testing.TB, id string, how outcome) {
	t.Helper()
	eventually(t, "the end of the round", func() bool { return p.known(id) == nil })
	if got, err := p.ended(id); err != nil || got != how {
		t.Errorf("the round has ended as %q, %v, want %q", got, err, how)
	}
	for pair, err := range p.cfg.Journal.Scan([]byte("shuffler/"), []byte("shuffler0")) {
		about := strings.Contains(string(pair.Key)+"/", "/"+id+"/") && string(pair.Key) != string(usedKey(id))
		if err != nil || about {
			t.Errorf("the journal has %q, %v", pair.Key, err)
		}
	}
}

// sameReports checks that the server has each item's sealed report once in its list.
func sameReports(t testing.TB, r *sealedRound, got, items [][]byte) {
	t.Helper()
	want := map[string]bool{}
	for _, item := range items {
		want[string(item[:r.format.Sealed])] = true
	}
	if len(got) != len(want) {
		t.Errorf("%d reports were forwarded, want %d", len(got), len(want))
	}
	for _, sealed := range got {
		if !want[string(sealed)] {
			t.Errorf("a report was forwarded that nobody sent: %x", sealed)
		}
	}
}
