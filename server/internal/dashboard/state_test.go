package dashboard

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// The shards of a cluster are shown, and on a public page their counts are rounded down.
func TestShardsAreShown(t *testing.T) {
	o := overview.Overview{Shards: []overview.Shard{
		{Number: 0, Holder: "ABC", Reports: 157, Rejected: 3, Snapshot: time.Unix(1e9, 0), Waiting: 12}, {Number: 1, Reports: 7},
	}}
	for public, want := range map[bool]string{false: "157 3 12 7", true: "100 2 10 5"} {
		got := state(t, New(&source{o: o}, Config{Public: public})).Shards
		if len(got) != 2 || got[0].Holder != "ABC" || got[0].Snapshot == nil || got[1].Snapshot != nil || got[1].Number != 1 {
			t.Fatalf("shards %+v", got)
		}
		if text := fmt.Sprint(got[0].Reports, got[0].Rejected, got[0].Waiting, got[1].Reports); text != want {
			t.Errorf("counts %s, want %s", text, want)
		}
	}
}

// Rates are kept while reports come, and nothing is added when none do.
func TestRatesAreThoseOfTheReports(t *testing.T) {
	f := newFeed(&source{}, nil)
	at := f.seenAt.AddDate(2000, 0, 0)
	for _, accepted := range []int64{10, 10, 30, 30, 30, 31} {
		f.measure(accepted, at)
		f.measure(accepted+1000, at.Add(sampling/2)) // too early
		at = at.Add(2 * sampling)
	}
	var got []float64
	for _, r := range f.rates {
		got = append(got, r.PerSecond)
	}
	if !slices.Equal(got, []float64{10, 0, 0.5}) {
		t.Errorf("rates %v", got)
	}
	for i := range int64(2 * maxRates) {
		f.measure(100+i, at)
		at = at.Add(sampling)
	}
	if len(f.rates) != maxRates {
		t.Errorf("%d rates", len(f.rates))
	}
}
