package shuffler

import (
	"bytes"
	"context"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/floats"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// activeShuffler is a second server that does not follow the protocol. It tells clients that it has taken what they send.
type activeShuffler struct {
	service.UnimplementedRoundsServer
	rounds   service.RoundsClient // of the first server
	shuffled service.ShuffledClient
	round    *sealedRound
	opener   *seal.ShareOpener

	mu    sync.Mutex
	items [][]byte
}

func (a *activeShuffler) GetRound(ctx context.Context, req *service.GetRoundRequest) (*service.GetRoundResponse, error) {
	return a.rounds.GetRound(ctx, req)
}

func (a *activeShuffler) SubmitReports(stream grpc.ClientStreamingServer[service.SubmitReportsRequest, service.SubmitReportsResponse]) error {
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&service.SubmitReportsResponse{Accepted: 1})
		}
		if err != nil {
			return err
		}
		a.mu.Lock()
		a.items = append(a.items, bytes.Clone(req.GetReports()))
		a.mu.Unlock()
	}
}

// serve answers clients at a port, until the test ends.
func (a *activeShuffler) serve(t *testing.T) *grpc.ClientConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, a)
	go func() { _ = g.Serve(l) }()
	conn, err := dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		g.Stop()
	})
	return conn
}

// invent returns n items of zeros.
func (a *activeShuffler) invent(t *testing.T, n int) [][]byte {
	t.Helper()
	own, err := a.round.mechanism.Encode(nil, make([]float64, a.round.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	items, err := a.round.sealer.Items(slices.Repeat([][]byte{own}, n))
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// open returns the share of the second server in an item, and its tag.
func (a *activeShuffler) open(t *testing.T, item []byte) (share, tag []byte) {
	t.Helper()
	share, tag, err := a.opener.Open(item)
	if err != nil {
		t.Fatal(err)
	}
	return share, tag
}

// forward sends items to the first server, and returns how many it rejects.
func (a *activeShuffler) forward(t *testing.T, items [][]byte) (rejected int, err error) {
	t.Helper()
	for part := range slices.Chunk(items, 100) {
		req := &service.ForwardReportsRequest{RoundId: a.round.ID, RoundDigest: a.round.digest[:]}
		for _, item := range part {
			_, tag := a.open(t, item)
			req.Sealed, req.ShareTags = append(req.Sealed, item[:a.round.format.Sealed]...), append(req.ShareTags, tag...)
		}
		resp, err := a.shuffled.ForwardReports(t.Context(), req)
		if err != nil {
			return rejected, err
		}
		rejected += len(resp.GetRejected())
	}
	return rejected, nil
}

// complete sends a sum to the first server.
func (a *activeShuffler) complete(t *testing.T, sum fl.ShareAggregator) error {
	t.Helper()
	_, err := a.shuffled.CompleteRound(t.Context(), &service.CompleteRoundRequest{
		RoundId: a.round.ID, RoundDigest: a.round.digest[:], ShareSum: released(t, sum, knownRand()),
	})
	return err
}

// sides returns the shares of items at both servers, by the ids of their reports. The first server's are for the control: its key opens them.
func (a *activeShuffler) sides(t *testing.T, items [][]byte, key *seal.Key) (first, second map[[32]byte][]byte) {
	t.Helper()
	first, second = map[[32]byte][]byte{}, map[[32]byte][]byte{}
	opener := key.NewOpener(a.round.digest)
	for _, item := range items {
		sealed := item[:a.round.format.Sealed]
		plain, err := opener.Open(sealed)
		if err != nil {
			t.Fatal(err)
		}
		id := seal.ID(sealed)
		first[id] = plain[:a.round.mechanism.(fl.SharedMechanism).ShareBytes(fl.FirstServer)]
		second[id], _ = a.open(t, item)
	}
	return first, second
}

// The ε of gaussian-shares holds against an active second server, too. A shuffler keeps the reports of all clients but one to itself, makes up
// the others, and forwards the one again and again, in the hope that it counts more than once. It knows its own noise, and subtracts it from what the
// first server releases: it learns the one client's gradient with the first server's whole noise. Other sums, and other clients, get it
// no second release, whatever happens to the server. The server is a process of its own, and the clients are real ones.
func TestAnActiveSecondServerLearnsNoGradient(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	parameter := startProcess(t, "server", dir, "")
	upstream, err := dial(parameter.address)
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	operator := client.NewOperator(upstream)
	shareKey := newestOf(t, filepath.Join(dir, "share-keys"))
	r := newSealedRound(t, func(r *fl.Round) {
		r.Mechanism, r.Params, r.Epsilon, r.Delta = hdsum.SharesName, nil, 1, 1e-6
		r.Dim, r.MinReports, r.SealKey, r.ShareKey = 1024, 1000, nil, shareKey.Public()
		if *r, err = operator.OpenRound(t.Context(), *r); err != nil {
			t.Fatal(err)
		}
	})
	dishonest := &activeShuffler{
		rounds: service.NewRoundsClient(upstream), shuffled: service.NewShuffledClient(upstream),
		round: r, opener: shareKey.NewShareOpener(r.format, r.digest),
	}
	conn := dishonest.serve(t)
	gradients := normalGradients(30, r.Dim)
	for _, gradient := range gradients {
		participate(t, conn, r, gradient)
	}
	victim, other := dishonest.items[11], dishonest.items[12]
	counted := append(dishonest.invent(t, r.MinReports-1), victim)
	for range 2 {
		if rejected, err := dishonest.forward(t, append(slices.Repeat([][]byte{victim}, 50), counted...)); err != nil || rejected > 0 {
			t.Fatalf("%d rejected, %v", rejected, err)
		}
	}
	key := newestOf(t, filepath.Join(dir, "keys"))
	first, second := dishonest.sides(t, counted, key)
	often := r.addShares(t, fl.SecondServer, second)
	id := seal.ID(victim[:r.format.Sealed])
	for range 99 {
		if err := often.Add(id[:], second[id]); err != nil {
			t.Fatal(err)
		}
	}
	if err := dishonest.complete(t, often); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a report that was forwarded 100 times counts as often: %v", err)
	}
	own := r.addShares(t, fl.SecondServer, second)
	if err := dishonest.complete(t, own); err != nil {
		t.Fatalf("%v\n%s", err, &parameter.log)
	}
	estimate, err := operator.Estimate(t.Context(), "r", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dishonest.forward(t, [][]byte{other}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("another client after the release: %v", err)
	}
	_ = parameter.end(syscall.SIGKILL) // it says that it was killed
	parameter.start(t)
	eventually(t, "the server", func() bool {
		_ = dishonest.complete(t, often)
		again, err := operator.Estimate(t.Context(), "r", false)
		if err == nil && !reflect.DeepEqual(again, estimate) {
			t.Fatal("a second release")
		}
		return err == nil
	})

	got, noise := slices.Clone(estimate.Mean().Value), r.knownNoise(t)
	floats.Scale(float64(estimate.Reports), got)
	floats.Sub(got, noise)
	bare := r.total(t, released(t, r.addShares(t, fl.FirstServer, first), knownRand()), released(t, own, knownRand()))
	floats.AddScaled(bare, -2, noise)
	r.requireNoGradient(t, got, bare, gradients)
}
