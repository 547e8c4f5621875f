package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
)

// theatre is a server called without gRPC, with one round of puppets. Its tests
// run in a synctest bubble: after synctest.Wait every goroutine that can go on
// has done so.
type theatre struct {
	t        *testing.T
	round    *round
	rounds   roundsService
	operator operatorService
	gate     chan<- error
}

// stage opens a round of puppets.
func stage(t *testing.T, mutate func(*fl.Round)) *theatre {
	t.Helper()
	s, err := New(Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := fl.Round{ID: "r", Mechanism: "puppet", Dim: 1, Scale: 1, Epsilon: 1, MinReports: 1, PublicSeed: [32]byte{1}}
	if mutate != nil {
		mutate(&r)
	}
	th := &theatre{t: t, rounds: roundsService{Server: s}, operator: operatorService{Server: s}, gate: newGate(t, r.ID)}
	if _, err := th.operator.OpenRound(t.Context(), &service.OpenRoundRequest{Round: r.Proto()}); err != nil {
		t.Fatal(err)
	}
	if th.round, err = s.rounds.find(r.ID); err != nil {
		t.Fatal(err)
	}
	return th
}

// outcome is what became of a call.
type outcome struct {
	duplicate bool
	err       error
}

// submit sends a batch of one-byte reports and returns its outcome.
func (th *theatre) submit(ctx context.Context, key byte, reports string) outcome {
	req := &service.SubmitReportsRequest{
		RoundId: th.round.description.ID, RoundDigest: th.round.digest[:], BatchKey: bytes.Repeat([]byte{key}, 16),
		Reports: []byte(reports),
	}
	got, err := th.rounds.submit(ctx, req)
	if err != nil {
		err, _ = statuses.Of(err, "")
	}
	return outcome{got.duplicates > 0, err}
}

// begin is submit in the background.
func (th *theatre) begin(key byte, reports string) <-chan outcome {
	done := make(chan outcome, 1)
	go func() { done <- th.submit(context.Background(), key, reports) }()
	return done
}

// closing is CloseRound in the background.
func (th *theatre) closing() <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		_, err := th.operator.CloseRound(context.Background(), &service.CloseRoundRequest{RoundId: th.round.description.ID})
		done <- outcome{err: err}
	}()
	return done
}

// ended returns the outcome of a call that can end without anybody's help.
func (th *theatre) ended(what string, done <-chan outcome) outcome {
	th.t.Helper()
	synctest.Wait()
	select {
	case o := <-done:
		return o
	default:
		th.t.Fatalf("%s: still waiting", what)
		return outcome{}
	}
}

// waiting checks that a call cannot end yet.
func (th *theatre) waiting(what string, done <-chan outcome) {
	th.t.Helper()
	synctest.Wait()
	select {
	case o := <-done:
		th.t.Fatalf("%s: ended with %+v, want it to wait", what, o)
	default:
	}
}

func (th *theatre) want(what string, got outcome, duplicate bool, code codes.Code) {
	th.t.Helper()
	if got.duplicate != duplicate || status.Code(got.err) != code {
		th.t.Errorf("%s: %+v, want duplicate %t and code %v", what, got, duplicate, code)
	}
}

// wantReports checks the reports of a closed round's estimate.
func (th *theatre) wantReports(want int64) {
	th.t.Helper()
	synctest.Wait()
	if !th.round.settled() {
		th.t.Fatal("the round is not closed")
	}
	kept, err := th.round.journal.Get(estimateKey(th.round.description.ID, 0))
	var estimate service.GetEstimateResponse
	if err := errors.Join(err, proto.Unmarshal(kept, &estimate)); err != nil {
		th.t.Fatal(err)
	}
	if got := estimate.GetHeader().GetReports(); th.round.failure != nil || got != uint64(want) || th.round.status().GetReports() != uint64(want) {
		th.t.Errorf("estimate of %d reports (%v) and status %v, want %d reports", got, th.round.failure, th.round.status().GetReports(), want)
	}
}

func TestClosingWaitsForTheBatchesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := stage(t, nil)
		th.want("counted", th.submit(t.Context(), 1, "c"), false, codes.OK)
		inFlight := th.begin(2, "wc")
		th.waiting("the batch in flight", inFlight)
		closed := th.closing()
		th.waiting("CloseRound", closed)
		if th.round.settled() {
			t.Fatal("closed while a batch is in flight")
		}
		// A context that ends shows a batch let in although no shard is free.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		th.want("a new batch", th.submit(ctx, 3, "c"), false, codes.FailedPrecondition)
		th.want("a counted batch", th.submit(ctx, 1, "c"), true, codes.OK)

		th.gate <- nil
		th.want("the batch in flight", th.ended("the batch in flight", inFlight), false, codes.OK)
		th.want("CloseRound", th.ended("CloseRound", closed), false, codes.OK)
		th.wantReports(3)
	})
}

// The batch in flight when the deadline passes is the one that makes the
// reports enough.
func TestABatchInFlightAtTheDeadlineCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := stage(t, func(r *fl.Round) {
			r.MinReports, r.Deadline = 2, time.Now().Add(time.Minute)
		})
		inFlight := th.begin(1, "cw")
		time.Sleep(2 * time.Minute) // in the bubble
		th.waiting("the batch in flight", inFlight)
		if th.round.settled() {
			t.Fatalf("settled (%v) while a batch is in flight", th.round.failure)
		}
		th.gate <- nil
		th.want("the batch in flight", th.ended("the batch in flight", inFlight), false, codes.OK)
		th.wantReports(2)
	})
}

// With two batches in flight the first to end does not finish the round.
func TestClosingWaitsForTheLastBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := stage(t, func(r *fl.Round) { r.MinReports = 2 })
		first := th.begin(1, "w")
		second := th.begin(2, "w")
		th.waiting("first", first)
		th.round.stop("test")
		th.gate <- fl.ErrBadReport
		synctest.Wait()
		if th.round.settled() {
			t.Fatalf("settled (%v) with a batch in flight", th.round.failure)
		}
		th.gate <- nil
		synctest.Wait()
		if !th.round.settled() || !errors.Is(th.round.failure, errExpired) {
			t.Errorf("settled %t with %v, want expired: 1 report of 2", th.round.settled(), th.round.failure)
		}
		if got := fmt.Sprint(status.Code((<-first).err), status.Code((<-second).err)); got != "OK InvalidArgument" && got != "InvalidArgument OK" {
			t.Errorf("codes %s, want one OK and one InvalidArgument", got)
		}
	})
}

func TestTheTargetHitExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := stage(t, func(r *fl.Round) { r.MinReports, r.TargetReports = 2, 4 })
		th.want("3 of 4", th.submit(t.Context(), 1, "ccc"), false, codes.OK)
		synctest.Wait()
		if th.round.settled() {
			t.Fatal("closed at 3 of 4 reports")
		}
		th.want("4 of 4", th.submit(t.Context(), 2, "c"), false, codes.OK)
		th.wantReports(4)
	})
}
