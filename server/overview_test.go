package server_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/internal/overview"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Rounds, counts, refusals, the model and the worth of an estimate agree with what happened.
func TestTheOverviewSaysWhatHappened(t *testing.T) {
	p, s := watched(t, server.Config{})
	r := open(t, p, cocoRound("r"))
	batch := request(t, r, 1, encode(t, join(t, p, "r"), 5)...)
	bad := request(t, r, 2, batch.GetReports()[:7])
	bad.RoundDigest = make([]byte, 32)
	for range 2 { // the second time they are duplicates
		if _, err := submit(t, p, batch); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := submit(t, p, bad); err == nil {
		t.Fatal("reports of another round were taken")
	}
	if _, err := p.operator.PutModel(t.Context(), "x/y", []byte("weights")); err != nil {
		t.Fatal(err)
	}
	o := s.Parameters().Overview()
	if got := o.Totals; got.Accepted != 5 || got.Duplicates != 5 || got.Refused["FailedPrecondition"] != 1 || got.Rejected["sealed"] != 0 {
		t.Errorf("totals %+v", got)
	}
	if got := o.Rounds[0]; got.Round.ID != "r" || got.State != service.RoundState_ROUND_STATE_OPEN || got.Reports != 5 || got.Opened.IsZero() || !got.Ended.IsZero() || got.Worth != nil {
		t.Errorf("open round %+v", got)
	}
	if m := o.Models; len(m) != 1 || m[0].Version != 1 || m[0].Format != "x/y" || m[0].Bytes != 7 || m[0].Published.IsZero() {
		t.Errorf("models %+v", m)
	}
	if err := p.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	estimate, err := p.operator.Estimate(t.Context(), "r", false)
	if err != nil {
		t.Fatal(err)
	}
	squares := 0.
	for _, x := range estimate.Mean().Value {
		squares += x * x
	}
	// Where both norms are equal but for rounding, their difference of some 1e-16 has a root of some 1e-8.
	want := math.Sqrt(max(0, squares/(estimate.NoiseNorm*estimate.NoiseNorm)-1))
	got := s.Parameters().Overview().Rounds[0]
	if got.State != service.RoundState_ROUND_STATE_CLOSED || got.Ended.IsZero() || got.Worth == nil || got.Worth.NoiseNorm != estimate.NoiseNorm || math.Abs(got.Worth.SignalToNoise-want) > 1e-6 {
		t.Errorf("closed round %+v, worth %+v, want signal to noise %v", got, got.Worth, want)
	}
}

// What rounds promise is counted for all of them: also for forgotten ones, and after a restart.
func TestForgottenRoundsStayCounted(t *testing.T) {
	kept := journal.NewMemory()
	cfg := server.Config{Journal: kept, KeepRounds: 1}
	p, s := watched(t, cfg)
	other := cocoRound("other")
	other.Epsilon = 1
	for _, r := range []fl.Round{cocoRound("a"), cocoRound("b"), other, cocoRound("c")} {
		open(t, p, r)
		if err := p.operator.AbortRound(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
	}
	check := func(o overview.Overview, unknown int) {
		t.Helper()
		counts := map[float64]int{}
		for _, k := range o.Kinds {
			counts[k.Round.Epsilon] += k.Count
		}
		if len(o.Rounds) != 1 || len(o.Kinds) != 2 || counts[2] != 3 || counts[1] != 1 || o.Unknown != unknown {
			t.Errorf("%d rounds are kept, kinds %v, %d unknown", len(o.Rounds), counts, o.Unknown)
		}
		if k := o.Kinds[o.Rounds[0].Kind]; k.Round.Epsilon != 2 {
			t.Errorf("round c is of kind %+v", k)
		}
	}
	check(s.Parameters().Overview(), 0)
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	var b journal.Batch
	b.Put([]byte("server/used/long-ago"), []byte("no description"))
	if err := kept.Commit(&b); err != nil {
		t.Fatal(err)
	}
	_, again := watched(t, cfg)
	check(again.Parameters().Overview(), 1)
}
