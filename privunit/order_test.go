package privunit

import (
	"math"
	"testing"
)

// Closed forms: David and Nagaraja, Order Statistics, 2003, section 3.2, and by hand for two variables.
func TestOrderStatisticsByClosedForms(t *testing.T) {
	root := math.Sqrt(math.Pi)
	for _, c := range []struct {
		k, r int
		want order
	}{
		{2, 1, order{1 / root, 0, -0.5 / root}},
		{3, 1, order{1.5 / root, math.Sqrt(3) / (2 * math.Pi), math.NaN()}},
		{3, 2, order{1.5 / root, -math.Sqrt(3) / (2 * math.Pi), math.NaN()}},
		{4, 1, order{6 / root / math.Pi * math.Atan(math.Sqrt2), math.Sqrt(3) / math.Pi, math.NaN()}},
	} {
		got := newOrder(c.k, c.r)
		for i, pair := range [][2]float64{{got.first, c.want.first}, {got.second, c.want.second}, {got.third, c.want.third}} {
			if !math.IsNaN(pair[1]) && math.Abs(pair[0]-pair[1]) > 1e-10 {
				t.Errorf("%d largest of %d, expectation %d: %.12f, want %.12f", c.r, c.k, i+1, pair[0], pair[1])
			}
		}
	}
}

// The r largest are as far above as the r smallest are below, and all k have no sum of either kind. A grid that is too
// coarse for many variables breaks it.
func TestOrderStatisticsAreSymmetric(t *testing.T) {
	for _, k := range []int{5, 256, MaxCandidates} {
		for _, r := range []int{1, 2, k / 3, k / 2} {
			a, b := newOrder(k, r), newOrder(k, k-r)
			scale := 1e-9 * float64(k)
			if !(a.first > 0) || math.Abs(a.first-b.first) > scale || math.Abs(a.second+b.second) > scale || math.Abs(a.third-b.third) > scale {
				t.Errorf("k=%d: %+v for %d and %+v for %d", k, a, r, b, k-r)
			}
		}
	}
	// Half of many variables: k·φ(0).
	if got, want := newOrder(MaxCandidates, MaxCandidates/2).first, MaxCandidates/math.Sqrt(2*math.Pi); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("the larger half sums to %v, want about %v", got, want)
	}
}
