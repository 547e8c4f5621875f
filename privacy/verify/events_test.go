package verify

import (
	"math"
	"slices"
	"testing"
)

func TestFrequentValuesHaveAnIntervalOfTheirOwn(t *testing.T) {
	var values []float64
	for i := range 1000 {
		values = append(values, float64(i)/1000)
	}
	for range 100 {
		values = append(values, 0.5, 1)
	}
	edges := edgesOf(values, nil)
	if len(edges) > 2*maxSymbols || len(edges) < maxSymbols/2 || !slices.IsSorted(edges) {
		t.Errorf("%d edges", len(edges))
	}
	counts := histogram(edges, values)
	for _, v := range []float64{0.5, 1} {
		at := slices.Index(edges, v)
		if at < 0 || counts[at] != 100+map[float64]int{0.5: 1}[v] {
			t.Errorf("%g: interval %d, counts %v", v, at, counts)
		}
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if sum != len(values) {
		t.Errorf("%d of %d values counted", sum, len(values))
	}
}

func TestTheBestEvent(t *testing.T) {
	bound := func(k, other int) float64 {
		v, _, _ := epsilonBound(k, other, 1000, 0, 1e-3)
		return v
	}
	edges := []float64{1, 2, 3}
	for want, c := range map[string][2][]int{
		"(-Inf, 1]":           {{500, 200, 200, 100}, {100, 200, 200, 500}},
		"(3, +Inf]":           {{100, 200, 200, 500}, {500, 200, 200, 100}},
		"(-Inf, 1] or (2, 3]": {{400, 100, 400, 100}, {100, 400, 100, 400}},
		"(1, 2]":              {{0, 1000, 0, 0}, {400, 0, 300, 300}},
	} {
		e := bestEvent(c[0], c[1], bound)
		if got := e.describe(edges); got != want {
			t.Errorf("best event %s, want %s", got, want)
		}
	}
	e := event{false, true}
	if got := e.describe([]float64{1, math.Nextafter(1, 2)}); got != "{1}" {
		t.Errorf("a single value: %s", got)
	}
	if n := (event{true, false, true}).hits([]int{1, 2, 4}); n != 5 {
		t.Errorf("%d hits, want 5", n)
	}
}
