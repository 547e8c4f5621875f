package privunit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/sparse"
)

// Counts of many reports, in shards that end where they like, and the mean that follows from them.
func TestVotesAreCounts(t *testing.T) {
	m := open(t, fl.Round{Dim: 3, Scale: 2, Epsilon: 1, Params: fl.Params{ParamCandidates: fl.Int(300)}})
	reports := randomReports(rand.New(rand.NewChaCha8([32]byte{7})), 1000)
	want := negatives(m.candidates, reports)
	for _, ends := range [][]int{{1000}, {255, 1000}, {1, 511, 600, 1000}} {
		whole, start := m.newVotes(), 0
		for _, end := range ends {
			shard := m.newVotes()
			for _, r := range reports[start:end] {
				shard.Count(r)
			}
			whole.Merge(shard)
			start = end
		}
		if !slices.Equal(whole.all(), want) {
			t.Errorf("shards that end at %v count something else", ends)
		}
	}
	votes := m.newVotes()
	for _, r := range reports {
		votes.Count(r)
	}
	for range 2 { // to ask counts nothing
		if !slices.Equal(slices.Clone(votes.all()), want) {
			t.Error("1000 reports of which some wait are counted wrongly")
		}
	}
	e, err := votes.Estimate(1000)
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]float64, len(want))
	for i, n := range want {
		sums[i] = 1000 - 2*float64(n)
	}
	back := make([]float64, minPadded)
	if err := m.rotation.Inverse(back, sums); err != nil {
		t.Fatal(err)
	}
	for j, got := range e.Mean().Value {
		if want := back[j] * 32 * 2 / m.law.slope / 1000; math.Abs(got-want) > 1e-12 {
			t.Errorf("coordinate %d: %v, want %v", j, got, want)
		}
	}
}

// What does not fall with the number of reports: seeds are 2^32, and signs with larger weights sway less.
func TestStandardErrorsHaveAFloor(t *testing.T) {
	m := open(t, fl.Round{Dim: 3, Scale: 2, Epsilon: 1})
	votes := m.newVotes()
	of := func(reports int64) float64 {
		e, err := votes.Estimate(reports)
		if err != nil {
			t.Fatal(err)
		}
		return e.Mean().StdErr[0]
	}
	variance := math.Pow(of(100), 2) * 100 // the floor is 1e-7 of it
	floor := variance/seeds + 4*m.law.bend
	for _, n := range []int64{1e4, 1e9} {
		if got, want := math.Pow(of(n), 2), variance/float64(n)+floor; math.Abs(got/want-1) > 1e-5 {
			t.Errorf("%d reports: squared standard error %g, want %g", n, got, want)
		}
	}
	if ratio := math.Sqrt(m.law.bend * minPadded); ratio < 0.5/minPadded || ratio > 2./minPadded {
		t.Errorf("at ε = 1 a gradient's direction is off by %g, want about 1/d'", ratio)
	}
}

// Reports and snapshots have the first version's bytes.
func TestGoldenBytes(t *testing.T) {
	fltest.Golden(t, fl.Round{Mechanism: Name, Epsilon: 2}, "14a96e910b763657", "616318981a18f494")
	fltest.Golden(t, fl.Round{Mechanism: Name, Epsilon: 2, Params: fl.Params{ParamCandidates: fl.Int(1000)}}, "97655d31f35bea34", "43ace8cae0cf2e55")
}

func TestSnapshotsOfOtherCountsAreRefused(t *testing.T) {
	m := open(t, fl.Round{Dim: 3, Scale: 2, Epsilon: 1})
	votes := m.newVotes()
	votes.Count(sparse.Report{Seed: 1})
	good := votes.Append(nil, 1)
	agg := m.NewAggregator()
	if err := agg.UnmarshalBinary(fltest.Snapshot(t, m.round.Round, good)); err != nil {
		t.Error(err)
	}
	bad := slices.Clone(good)
	bad[len(bad)-1] = 2 // of one report
	if err := agg.UnmarshalBinary(fltest.Snapshot(t, m.round.Round, bad)); err == nil {
		t.Error("two negative signs of one report")
	}
}

// One number of a short gradient has the largest error: √square/slope of the clip. The standard error is as large. It follows from the second moment of a report, by the
// law of the candidates. Tolerance: 300 rounds have a root mean square with a relative error of 1/√600, and 6 of
// them are .245; a false alarm in 10^8.
func TestStandardErrorsHoldForShortGradients(t *testing.T) {
	if !*long {
		t.Skip("takes seconds")
	}
	for _, epsilon := range []float64{1, 8} {
		r := fl.Round{ID: "short", Mechanism: Name, Dim: 1, Scale: 1, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 2, PublicSeed: [32]byte{1}}
		_, opened, err := fl.Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		const reports, rounds = 60, 300
		rng := rand.New(rand.NewPCG(7, 8))
		squares, stated := 0., 0.
		for range rounds {
			a := opened.NewAggregator()
			for range reports {
				report, err := opened.Encode(nil, []float64{0.05}, rng)
				if err == nil {
					err = a.Add(report)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			e, err := a.Estimate()
			if err != nil {
				t.Fatal(err)
			}
			squares += (e.Mean().Value[0] - 0.05) * (e.Mean().Value[0] - 0.05) / rounds
			stated = e.Mean().StdErr[0]
		}
		if ratio := math.Sqrt(squares) / stated; !(ratio > 0.755 && ratio < 1.245) {
			t.Errorf("ε = %g: errors are %.3f times the standard error", epsilon, ratio)
		}
	}
}
