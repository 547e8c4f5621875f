package histograms

import (
	"math"
	"slices"
	"testing"
)

// Whatever the demands, clients are in their order and category c has probability
// (c+1)/15; halves is tested elsewhere. Tolerances are 6 standard deviations
// (probability below 1e-8 each).
func TestPopulations(t *testing.T) {
	const n = 20_000
	for _, d := range []dependence{uncorrelated, sorted, windows, overlapping, narrow} {
		p := draw(n, setting{d, 5})
		if len(p.eps) != n || len(p.values) != n || p.categories != 5 || !slices.IsSorted(p.eps) {
			t.Fatalf("%v: %d demands in order %t, %d values, k = %d", d, len(p.eps), slices.IsSorted(p.eps), len(p.values), p.categories)
		}
		counts := make([]float64, 5)
		for _, c := range p.values {
			counts[c]++
		}
		for c, share := range p.truth {
			want := float64(c+1) / 15
			if math.Abs(share-counts[c]/n) > 1e-9 || math.Abs(share-want) > 6*math.Sqrt(want*(1-want)/n) {
				t.Errorf("%v: category %d has %g, of %g, want %g", d, c, share, counts[c]/n, want)
			}
		}
		if got, want := slices.IsSorted(p.values), d != uncorrelated && d != overlapping; got != want {
			t.Errorf("%v: values in order: %t", d, got)
		}
	}
}

// Categories change at 1/15, 3/15, 6/15 and 10/15.
func TestTriangular(t *testing.T) {
	for c, from := range []float64{0, 1. / 15, 3. / 15, 6. / 15, 10. / 15} {
		for _, at := range []struct {
			u    float64
			want int
		}{{from - 1e-9, c - 1}, {from + 1e-9, c}} {
			if got := triangular(at.u, 5); at.u >= 0 && got != at.want {
				t.Errorf("%g is in category %d, want %d", at.u, got, at.want)
			}
		}
	}
	if got := triangular(1, 5); got != 4 {
		t.Errorf("1 is in category %d, want 4", got)
	}
}
