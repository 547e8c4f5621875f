package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/keeper"
	"github.com/hushgrad/hushgrad/server/journal"
)

// moody is a journal that refuses what the test says.
type moody struct {
	journal.Journal
	mu     sync.Mutex
	refuse error
	tries  int
}

func (m *moody) Commit(b *journal.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries++
	if m.refuse != nil {
		return m.refuse
	}
	return m.Journal.Commit(b)
}

func (m *moody) mood(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = err
}

// called is a server called without gRPC, with an open round.
type called struct {
	*Server
	t      *testing.T
	round  *round
	digest [32]byte
}

func call(t *testing.T, j journal.Journal, r fl.Round) *called {
	t.Helper()
	s, err := New(Config{Logger: slog.New(slog.DiscardHandler), Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := s.rounds.find(r.ID); err != nil {
		if _, err := (operatorService{Server: s}).OpenRound(t.Context(), &service.OpenRoundRequest{Round: r.Proto()}); err != nil {
			t.Fatal(err)
		}
	}
	c := &called{Server: s, t: t}
	if c.round, err = s.rounds.find(r.ID); err != nil {
		t.Fatal(err)
	}
	c.digest = c.round.digest
	return c
}

func smallRound() fl.Round {
	return fl.Round{
		ID: "r", Mechanism: "coco", Dim: 20, Scale: 1, Epsilon: 2, MinReports: 1,
		Params: fl.Params{"sparsity": fl.Int(4)}, PublicSeed: [32]byte{1},
	}
}

// reports returns n packed reports of one gradient.
func (c *called) reports(n int) []byte {
	c.t.Helper()
	var packed []byte
	for range n {
		var err error
		if packed, err = c.round.mechanism.Encode(packed, make([]float64, 20), nil); err != nil {
			c.t.Fatal(err)
		}
	}
	return packed
}

func (c *called) submit(key int, packed []byte) (receipt, error) {
	return roundsService{Server: c.Server}.submit(c.t.Context(), &service.SubmitReportsRequest{
		RoundId: c.round.description.ID, RoundDigest: c.digest[:], BatchKey: fmt.Appendf(nil, "key-%020d", key), Reports: packed,
	})
}

// counted returns what the aggregators hold.
func (c *called) counted() []byte {
	c.t.Helper()
	sum, err := c.round.shards.sum()
	if err != nil {
		c.t.Fatal(err)
	}
	data, err := sum.MarshalBinary()
	if err != nil {
		c.t.Fatal(err)
	}
	return data
}

// While the journal has no room, reports are refused and nothing changes. When it has room
// again, service resumes, and the aggregators are what the journal has.
func TestAFullJournalRefusesAndResumes(t *testing.T) {
	t.Parallel() // it mostly waits
	kept := &moody{Journal: journal.NewMemory()}
	c := call(t, kept, smallRound())
	if got, err := c.submit(1, c.reports(5)); err != nil || got.accepted != 5 {
		t.Fatal(got, err)
	}
	before := c.counted()
	kept.mood(fmt.Errorf("a test: %w", journal.ErrFull))
	for key := range 3 {
		_, err := c.submit(2+key, c.reports(7))
		if st, _ := statuses.Of(err, ""); status.Code(st) != codes.ResourceExhausted {
			t.Errorf("without room: %v", err)
		}
	}
	if tries := kept.tries; tries > 3 {
		t.Errorf("the full journal was tried %d times at once", tries)
	}
	kept.mood(nil)
	time.Sleep(2 * keeper.BetweenTries)
	if got, err := c.submit(1, c.reports(0)); err == nil {
		t.Errorf("no reports: %v", got)
	}
	again := c.reports(3)
	if got, err := c.submit(2, again); err != nil || got.accepted != 3 {
		t.Errorf("with room: %v, %v", got, err)
	}
	sum := c.round.mechanism.NewAggregator()
	if err := sum.UnmarshalBinary(before); err != nil {
		t.Fatal(err)
	}
	reports, err := fl.UnpackReports(c.round.mechanism, again)
	if err != nil {
		t.Fatal(err)
	}
	if err := fl.AddBatch(c.round.mechanism, sum, reports); err != nil {
		t.Fatal(err)
	}
	if want, err := sum.MarshalBinary(); err != nil || !bytes.Equal(want, c.counted()) {
		t.Errorf("the aggregators hold what was refused (%v)", err)
	}
	if n := c.round.head().reports; n != 8 {
		t.Errorf("%d reports, want 8", n)
	}
}

// A mechanism that panics after it has counted a part leaves nothing of that part.
func TestAPanicLeavesNothingBehind(t *testing.T) {
	c := call(t, journal.NewMemory(), fl.Round{ID: "p", Mechanism: "puppet", Dim: 1, Scale: 1, Epsilon: 1, MinReports: 1, PublicSeed: [32]byte{1}})
	if _, err := c.submit(1, []byte("cc")); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = c.submit(2, []byte("cp"))
	}()
	if !c.round.stale {
		t.Error("the aggregators are taken for good")
	}
	if got, err := c.submit(2, []byte("c")); err != nil || got.accepted != 1 {
		t.Errorf("after the panic: %v, %v", got, err)
	}
	if sum, err := c.round.shards.sum(); err != nil || sum.(*puppetAggregator).reports != 3 || c.round.head().reports != 3 {
		t.Errorf("%+v, %v, want 3 reports", sum, err)
	}
}

// The same unit twice in one call is counted once.
func TestAUnitTwiceInACallIsCountedOnce(t *testing.T) {
	c := call(t, journal.NewMemory(), smallRound())
	one, other := c.reports(1), c.reports(1)
	u, v := newUnit("a", one, [][]byte{one}, nil), newUnit("b", other, [][]byte{other}, nil)
	if got, err := c.round.submit(t.Context(), []unit{u, v, u}, nil); err != nil || got != (receipt{accepted: 2, duplicates: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	v.key = "a"
	if got, err := c.round.submit(t.Context(), []unit{u, v}, nil); err == nil {
		t.Errorf("two contents under one key: %+v", got)
	}
}
