package fltest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// roundoff is how far sums of the same numbers in another order may be apart, in units of
// the largest of them.
const roundoff = 1e-9

// compare returns an error unless two estimates are equal: numbers up to tolerance times
// the largest of their column. Standard errors are compared by their squares, because
// they may be the root of a difference.
func compare(got, want *fl.Estimate, tolerance float64) error {
	if got.Reports != want.Reports || got.Mechanism != want.Mechanism {
		return fmt.Errorf("%d reports of %q, want %d of %q", got.Reports, got.Mechanism, want.Reports, want.Mechanism)
	}
	if got.Guarantee != want.Guarantee {
		return fmt.Errorf("guarantee %v, want %v", got.Guarantee, want.Guarantee)
	}
	if !slices.EqualFunc(got.Columns, want.Columns, func(a, b fl.Column) bool { return a.Name == b.Name }) {
		return fmt.Errorf("columns %q, want %q", names(got), names(want))
	}
	squares := 0.0 // of the mean
	for _, v := range want.Mean().Value {
		squares += v * v
	}
	for i, w := range want.Columns {
		g := got.Columns[i]
		if len(g.Value) != len(w.Value) || len(g.StdErr) != len(w.StdErr) {
			return fmt.Errorf("column %q: %d values and %d standard errors, want %d and %d", w.Name, len(g.Value), len(g.StdErr), len(w.Value), len(w.StdErr))
		}
		largest := 0.0
		for _, v := range w.Value {
			largest = max(largest, math.Abs(v))
		}
		for j, v := range w.Value {
			if !(math.Abs(g.Value[j]-v) <= tolerance*largest) {
				return fmt.Errorf("column %q, coordinate %d: %v, want %v", w.Name, j, g.Value[j], v)
			}
		}
		for j, v := range w.StdErr {
			if !(math.Abs(g.StdErr[j]*g.StdErr[j]-v*v) <= tolerance*(v*v+largest*largest)) {
				return fmt.Errorf("column %q, standard error of coordinate %d: %v, want %v", w.Name, j, g.StdErr[j], v)
			}
		}
	}
	if g, w := got.NoiseNorm, want.NoiseNorm; !(math.Abs(g*g-w*w) <= tolerance*(w*w+squares)) && !(math.IsNaN(g) && math.IsNaN(w)) {
		return fmt.Errorf("norm of the noise: %v, want %v", g, w)
	}
	if !slices.EqualFunc(got.Tiers, want.Tiers, func(a, b fl.TierEstimate) bool {
		return a.Guarantee == b.Guarantee && a.Reports == b.Reports && math.Abs(a.Weight-b.Weight) <= tolerance
	}) {
		return fmt.Errorf("tiers %+v, want %+v", got.Tiers, want.Tiers)
	}
	return nil
}

// compareAggregators compares what two aggregators estimate.
func compareAggregators(got, want fl.Aggregator, tolerance float64) error {
	w, err := want.Estimate()
	if err != nil {
		return fmt.Errorf("Estimate: %w", err)
	}
	g, err := got.Estimate()
	if err != nil {
		return fmt.Errorf("Estimate: %w", err)
	}
	return compare(g, w, tolerance)
}

func names(e *fl.Estimate) []string {
	var all []string
	for _, c := range e.Columns {
		all = append(all, c.Name)
	}
	return all
}

// finite returns an error for the first number of an estimate that is not one.
func finite(e *fl.Estimate) error {
	for _, c := range e.Columns {
		for i, v := range slices.Concat(c.Value, c.StdErr) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("column %q has %v at coordinate %d, want finite values and standard errors", c.Name, v, i%len(c.Value))
			}
		}
	}
	return nil
}

// stateOf returns a copy of an aggregator's snapshot.
func stateOf(agg fl.Aggregator) []byte {
	state, err := agg.MarshalBinary()
	if err != nil {
		fail(fmt.Errorf("MarshalBinary: %w", err))
	}
	return bytes.Clone(state)
}

// unchanged calls f, and returns an error if the state of one of the aggregators is then
// another one.
func unchanged(f func() error, aggregators ...fl.Aggregator) error {
	var before [][]byte
	for _, agg := range aggregators {
		before = append(before, stateOf(agg))
	}
	err := protect(f)
	for i, agg := range aggregators {
		if bytes.Equal(stateOf(agg), before[i]) {
			continue
		}
		changed := errors.New("an aggregator changed that must stay as it was")
		if err != nil {
			changed = fmt.Errorf("%w, and %w", changed, err)
		}
		return changed
	}
	return err
}
