package server

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

// A caller that gives up while every shard is busy is let go, and its batch is
// not counted.
func TestABusyServerLetsCallersGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := stage(t, nil)
		shards := runtime.GOMAXPROCS(0)
		busy := make([]<-chan outcome, shards)
		for i := range busy {
			busy[i] = th.begin(byte(i), "w")
		}
		synctest.Wait()
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		impatient, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		for ctx, code := range map[context.Context]codes.Code{cancelled: codes.Canceled, impatient: codes.DeadlineExceeded} {
			done := make(chan outcome, 1)
			go func() { done <- th.submit(ctx, 0xFF, "c") }()
			time.Sleep(2 * time.Second) // in the bubble
			th.want("no free shard", th.ended("no free shard", done), false, code)
		}
		for range busy {
			th.gate <- nil
		}
		for _, done := range busy {
			th.want("busy", th.ended("busy", done), false, codes.OK)
		}
		th.want("the key again", th.submit(t.Context(), 0xFF, "c"), false, codes.OK)
		th.want("CloseRound", th.ended("CloseRound", th.closing()), false, codes.OK)
		th.wantReports(int64(shards) + 1)
	})
}

// Without the sum of all shards there is no estimate.
func TestAFailedMergeReleasesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := stage(t, func(r *fl.Round) { r.Params = fl.Params{"fails": fl.Text("merge")} })
		th.want("submit", th.submit(t.Context(), 1, "c"), false, codes.OK)
		th.want("CloseRound", th.ended("CloseRound", th.closing()), false, codes.Internal)
		if kept, err := th.round.journal.Get(estimateKey("r", 0)); !errors.Is(err, journal.ErrNotFound) || th.round.failure == nil {
			t.Errorf("estimate of %d bytes (%v) and failure %v, want an error only", len(kept), err, th.round.failure)
		}
		if got := th.round.status().GetState(); got == service.RoundState_ROUND_STATE_CLOSED || got == service.RoundState_ROUND_STATE_OPEN {
			t.Errorf("state %v, want one without an estimate", got)
		}
	})
}
