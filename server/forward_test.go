package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// shuffler is a server called without gRPC, with one round, and its clients' sealer.
type shuffler struct {
	t testing.TB
	shuffledService
	round  *round
	sealer *seal.Sealer
	tag    int // bytes of a tag
	prep   int // bytes of a preparation share
}

// shuffle opens a round with a shuffler, of the puppet unless it names another mechanism.
func shuffle(t testing.TB, cfg Config, mutate func(*fl.Round)) *shuffler {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	keys, err := seal.OpenKeys(filepath.Join(t.TempDir(), "keys"), seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seal = keys
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := fl.Round{ID: "r", Mechanism: "puppet", Dim: 1, Scale: 1, Epsilon: 1, MinReports: 1, PublicSeed: [32]byte{1}, Shuffler: "shuffler.example"}
	if mutate != nil {
		mutate(&r)
	}
	if _, err := (operatorService{Server: s}).OpenRound(context.Background(), &service.OpenRoundRequest{Round: r.Proto()}); err != nil {
		t.Fatal(err)
	}
	sh := &shuffler{t: t, shuffledService: shuffledService{Server: s}}
	if sh.round, err = s.rounds.find(r.ID); err != nil {
		t.Fatal(err)
	}
	if sh.sealer, err = seal.NewSealer(sh.round.description.SealKey, sh.round.digest); err != nil {
		t.Fatal(err)
	}
	sh.tag, sh.prep = sh.round.sealing.format.Tag, sh.round.sealing.prepBytes()
	return sh
}

// seals seals each plaintext.
func (sh *shuffler) seals(plaintexts ...string) (sealed [][]byte) {
	sh.t.Helper()
	for _, p := range plaintexts {
		one, err := sh.sealer.Seal(nil, []byte(p))
		if err != nil {
			sh.t.Fatal(err)
		}
		sealed = append(sealed, one)
	}
	return sealed
}

func (sh *shuffler) send(sealed ...[]byte) (rejected []uint32, err error) {
	resp, err := sh.ForwardReports(context.Background(), &service.ForwardReportsRequest{
		RoundId: sh.round.description.ID, RoundDigest: sh.round.digest[:], Sealed: bytes.Join(sealed, nil),
		ShareTags: make([]byte, sh.tag*len(sealed)), // zeros, as in plaintexts
		// No report has a proof of zeros.
		PrepShares: make([]byte, sh.prep*len(sealed)), VerifyKey: make([]byte, len(fl.VerifyKey{})),
	})
	return resp.GetRejected(), err
}

func (sh *shuffler) complete() error {
	_, err := sh.CompleteRound(context.Background(), &service.CompleteRoundRequest{
		RoundId: sh.round.description.ID, RoundDigest: sh.round.digest[:],
	})
	return err
}

// The deadline is the shuffler's. An hour later a round that is not complete has expired, however
// many reports it has.
func TestAShufflerHasAnHourAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := journal.NewMemory()
		sh := shuffle(t, Config{Journal: kept}, func(r *fl.Round) { r.Deadline = time.Now().Add(time.Minute) })
		all := sh.seals("c", "c")
		for range 2 {
			if rejected, err := sh.send(all...); err != nil || len(rejected) > 0 {
				t.Errorf("%v, %v", rejected, err)
			}
			time.Sleep(30 * time.Minute) // in the bubble
			if sh.round.settled() {
				t.Fatal("the round has ended before the shuffler's time")
			}
		}
		time.Sleep(2 * time.Minute)
		check := func(what string, r *round) {
			synctest.Wait()
			if h := r.head(); h.state != service.RoundState_ROUND_STATE_EXPIRED || h.reports != 2 || !errors.Is(r.failure, errIncomplete) {
				t.Errorf("%s: %v with %d reports, %v", what, h.state, h.reports, r.failure)
			}
		}
		check("an hour after the deadline", sh.round)
		for range 2 {
			if err := sh.complete(); status.Code(err) != codes.FailedPrecondition {
				t.Errorf("completing too late: %v", err)
			}
			if _, err := sh.send(all...); status.Code(err) != codes.FailedPrecondition {
				t.Errorf("forwarding too late: %v", err)
			}
			next, err := New(Config{Journal: kept, Logger: slog.New(slog.DiscardHandler)}) // the key may be gone
			if err != nil {
				t.Fatal(err)
			}
			sh.Server = next
			if sh.round, err = next.rounds.find("r"); err != nil {
				t.Fatal(err)
			}
			check("after a restart", sh.round)
		}
	})
}

// CompleteRound waits for the reports on their way, and lets no later ones in.
func TestCompletingWaitsForTheReportsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sh := shuffle(t, Config{}, nil)
		gate := newGate(t, "r")
		if _, err := sh.send(sh.seals("c")...); err != nil {
			t.Fatal(err)
		}
		inFlight, completed := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := sh.send(sh.seals("c", "w")...)
			inFlight <- err
		}()
		synctest.Wait()
		go func() { completed <- sh.complete() }()
		synctest.Wait()
		late := make(chan error, 1)
		go func() {
			_, err := sh.send(sh.seals("c")...)
			late <- err
		}()
		synctest.Wait()
		if sh.round.settled() || len(completed) > 0 {
			t.Error("the round has ended with reports in flight")
		}
		gate <- nil
		if err := errors.Join(<-inFlight, <-completed); err != nil {
			t.Error(err)
		}
		if err := <-late; status.Code(err) != codes.FailedPrecondition {
			t.Errorf("a report that came while the round was completed: %v", err)
		}
		if n := sh.round.head().reports; n != 3 {
			t.Errorf("%d reports, want 3", n)
		}
	})
}

// A mechanism that panics at a report fails the call, and nothing of the reports beside it stays.
func TestAPanicAtAForwardedReport(t *testing.T) {
	sh := shuffle(t, Config{}, nil)
	all := sh.seals("c", "x", "c", "p")
	for range 2 {
		if _, err := sh.send(all...); status.Code(err) != codes.Internal || status.Convert(err).Message() != "internal error" {
			t.Errorf("a panic: %v", err)
		}
	}
	if rejected, err := sh.send(all[:3]...); err != nil || len(rejected) != 1 || rejected[0] != 1 {
		t.Errorf("without it: %v, %v", rejected, err)
	}
	if sum, err := sh.round.shards.sum(); err != nil || sum.(*puppetAggregator).reports != 2 || sh.round.head().reports != 2 {
		t.Errorf("%+v, %v, want 2 reports", sum, err)
	}
}

// shareKey returns a second server's key.
func shareKey(t testing.TB) []byte {
	t.Helper()
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	return key.Public()
}

// What could not be kept is not in the sum that is compared with the second server's.
func TestASumIsComparedWithoutWhatCouldNotBeKept(t *testing.T) {
	kept := &moody{Journal: journal.NewMemory()}
	sh := shuffle(t, Config{Journal: kept}, func(r *fl.Round) {
		r.Mechanism, r.Dim, r.Delta, r.MinReports = hdsum.SharesName, 8, 1e-6, 2
		r.Params, r.ShareKey = nil, shareKey(t)
	})
	m := sh.round.sealing.shared
	second, err := m.NewShareAggregator(fl.SecondServer)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		a, b, err := m.EncodeShares(nil, nil, make([]float64, 8), nil)
		if err != nil {
			t.Fatal(err)
		}
		sealed := sh.seals(string(a) + string(make([]byte, seal.TagBytes)))
		if n == 3 {
			kept.mood(fmt.Errorf("a test: %w", journal.ErrFull))
			if _, err := sh.send(sealed...); status.Code(err) != codes.ResourceExhausted {
				t.Fatalf("without room: %v", err)
			}
			kept.mood(nil)
			continue
		}
		if _, err := sh.send(sealed...); err != nil {
			t.Fatal(err)
		}
		id := seal.ID(sealed[0])
		if err := second.Add(id[:], b); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := second.Release(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.round.complete(t.Context(), sum); err != nil || sh.round.head().reports != 3 {
		t.Errorf("%v, with %d reports", err, sh.round.head().reports)
	}
}

// tallying counts how many reports its aggregators look at.
type tallying struct {
	puppet
	looked *int
}

type tallyingAggregator struct {
	*puppetAggregator
	looked *int
}

func (m tallying) NewAggregator() fl.Aggregator {
	return tallyingAggregator{m.puppet.NewAggregator().(*puppetAggregator), m.looked}
}

func (a tallyingAggregator) Add(report []byte) error { return a.AddBatch([][]byte{report}) }

func (a tallyingAggregator) AddBatch(reports [][]byte) error {
	*a.looked += len(reports)
	return a.puppetAggregator.AddBatch(reports)
}

// However many reports are bad, each is looked at twice at most.
func TestBadReportsDoNotMultiplyTheWork(t *testing.T) {
	const n = 1000
	looked, dropped := 0, 0
	s := newShards(tallying{looked: &looked})
	var units []unit
	for i := range n {
		report := []byte("x")
		if i%10 == 0 {
			report = []byte("c")
		}
		units = append(units, unit{reports: [][]byte{report}})
	}
	counted, err := s.add(t.Context(), units, func(unit, error) { dropped++ })
	if err != nil || len(counted) != n/10 || dropped != n-n/10 || looked > 2*n {
		t.Errorf("%d counted and %d dropped, %d looks, %v", len(counted), dropped, looked, err)
	}
}
