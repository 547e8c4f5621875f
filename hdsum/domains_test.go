package hdsum

import (
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

func TestDomainsAreCutAtPowersOfTwo(t *testing.T) {
	for x, want := range map[int64]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 3, 9: 4, 16: 4, 17: 5, 1 << 40: 40, 1<<40 + 1: 41} {
		if got := domainOf(x); got != want {
			t.Errorf("%d is in sub-domain %d, want %d", x, got, want)
		}
	}
	for bound, want := range map[int64][]int64{
		1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 4: {1, 2, 4}, 5: {1, 2, 4, 5}, 8: {1, 2, 4, 8}, 100: {1, 2, 4, 8, 16, 32, 64, 100},
	} {
		if got := newDomains(bound, 1, 0.1).bounds; !slices.Equal(got, want) {
			t.Errorf("%d: sub-domains end at %v, want %v", bound, got, want)
		}
		if want[len(want)-1] != bound || domainOf(bound) != len(want)-1 {
			t.Errorf("%d is in sub-domain %d", bound, domainOf(bound))
		}
	}
}

// 1.3·2^j·ln(2(L+1)/β)/ε, worked out by hand for U = 100 (8 sub-domains), ε = 0.5,
// β = 0.1: ln 160 = 5.0751738152.
func TestThresholds(t *testing.T) {
	d := newDomains(100, 0.5, 0.1)
	for j, want := range []float64{13.19545192, 26.39090384, 52.78180768, 105.5636154, 211.1272307, 422.2544614, 844.5089229, 1319.545192} {
		if math.Abs(d.thresholds[j]-want) > 1e-8*want {
			t.Errorf("threshold %d is %.10g, want %.10g", j, d.thresholds[j], want)
		}
	}
}

// Noise alone exceeds some threshold with probability at most β: exactly, from the
// laws of the instances.
func TestNoiseAloneIsKeptWithProbabilityBeta(t *testing.T) {
	for _, clients := range []int{10, 1000, 1_000_000} {
		for _, bound := range []int64{1, 7, 1000} {
			for _, epsilon := range []float64{0.1, 1, 10} {
				for _, beta := range []float64{0.5, 0.1, 1e-6} {
					for _, base := range []Protocol{GKMPS, BBGN} {
						c := Config{Clients: clients, Epsilon: epsilon, Delta: 1e-6, Relation: fl.ReplaceOne, Base: base}
						s, err := NewSumDP(c, bound, beta)
						if err != nil {
							t.Fatal(err)
						}
						total := 0.0
						for j, g := range s.groups {
							least := math.Floor(s.domains.thresholds[j]/float64(g.sum.Width())) + 1
							total += g.sum.Noise().CDF(-int64(least)) // symmetric
						}
						if total > beta {
							t.Errorf("%+v, bound %d: noise counts with probability %g, at most %g", c, bound, total, beta)
						}
					}
				}
			}
		}
	}
}

func TestKeptIsUpToTheLastOneAboveItsThreshold(t *testing.T) {
	d := domains{bounds: []int64{1, 2, 4}, thresholds: []float64{10, 20, 40}}
	for _, c := range []struct {
		estimates []float64
		want      int
	}{
		{[]float64{0, 0, 0}, 0}, {[]float64{10, 20, 40}, 0}, {[]float64{10.1, 20, 40}, 1}, {[]float64{99, 21, 0}, 2},
		{[]float64{-5, -5, 40.1}, 3}, {[]float64{0, 20.1, 40}, 2}, {[]float64{math.NaN(), 0, -99}, 0},
	} {
		if got := d.kept(func(j int) float64 { return c.estimates[j] }); got != c.want {
			t.Errorf("%v: %d kept, want %d", c.estimates, got, c.want)
		}
	}
}

// twoSums is δ(ε) of seeing two independent noisy sums when one falls by a and
// the other rises by b: the sum of (P − e^ε·Q)+ over a grid that holds all but
// 1e-15 of either.
func twoSums(first, second sample.DiscreteLaplace, a, b int64, epsilon float64) (delta float64) {
	far := func(d sample.DiscreteLaplace, shift int64) int64 { return int64(36/d.Eta) + shift }
	var risen [][2]float64 // the probabilities of y before and after
	for y := -far(second, b); y <= far(second, b); y++ {
		risen = append(risen, [2]float64{second.Prob(y), math.Exp(epsilon) * second.Prob(y-b)})
	}
	for x := -far(first, a); x <= far(first, a); x++ {
		p, q := first.Prob(x), first.Prob(x+a)
		for _, r := range risen {
			delta += max(0, p*r[0]-q*r[1])
		}
	}
	return delta
}

// Under replace-one an input that moves to another sub-domain changes two sums, so
// two instances at the full budget are not (ε, δ)-private: the numbers are lower
// bounds on δ at ε = 1 of two sums with ε* = 0.9 (GKMPS) and 1 (BBGN), found
// independently by convolution of privacy losses. The halved budgets are.
func TestReplaceOneAcrossSubDomains(t *testing.T) {
	bounds := []int64{2, 4, 9}
	if !*long {
		bounds = bounds[:1]
	}
	for _, bound := range bounds {
		full := func(epsilon float64, u int64) sample.DiscreteLaplace { return laplace(epsilon / float64(u)) }
		if d := twoSums(full(0.9, 1), full(0.9, bound), 1, bound, 1); d < 0.195 {
			t.Errorf("GKMPS, 1 to %d: delta(1) = %g, must be above 0.195", bound, d)
		}
		if d := twoSums(full(0.9, 1), full(0.9, bound), 1, bound, 1.79); d < 0.0025 {
			t.Errorf("GKMPS, 1 to %d: delta(1.79) = %g, must be above 0.0025", bound, d)
		}
		if d := twoSums(full(1, 1), full(1, bound), 1, bound, 1); d < 0.24 {
			t.Errorf("BBGN, 1 to %d: delta(1) = %g, must be above 0.24", bound, d)
		}
	}
	const epsilon, delta = 1, 1e-9
	for _, base := range []Protocol{GKMPS, BBGN} {
		for _, calibration := range []Calibration{CalibrationPublished, CalibrationCertified, CalibrationTight} {
			c := Config{Clients: 1000, Epsilon: epsilon, Delta: delta, Relation: fl.ReplaceOne, Base: base, Calibration: calibration}
			s, err := NewSumDP(c, bounds[len(bounds)-1], 0.1)
			if err != nil {
				t.Fatal(err)
			}
			for a, first := range s.groups {
				for b, second := range s.groups[:a] {
					d := twoSums(first.sum.Noise(), second.sum.Noise(), s.domains.bounds[a], s.domains.bounds[b], epsilon)
					// 1e-12 is what 10^5 roundings of the grid add up to at most.
					if d > delta/100+1e-12 {
						t.Errorf("%s, %s, sub-domain %d to %d: delta(%v) = %g of the two sums", base, calibration, a, b, epsilon, d)
					}
				}
			}
		}
	}
}

func TestPerInstanceBudgets(t *testing.T) {
	for _, c := range []struct {
		relation    fl.Relation
		bound       int64
		calibration Calibration
		part        float64
		want        fl.Relation
	}{
		{fl.ZeroOut, 1, CalibrationCertified, 1, fl.ZeroOut},
		{fl.ZeroOut, 100, CalibrationCertified, 1, fl.ZeroOut},
		{fl.ZeroOut, 100, CalibrationTight, 1, fl.ZeroOut},
		{fl.ReplaceOne, 1, CalibrationCertified, 1, fl.ReplaceOne},
		{fl.ReplaceOne, 1, CalibrationTight, 1, fl.ReplaceOne},
		{fl.ReplaceOne, 2, CalibrationCertified, 0.5, fl.ZeroOut},
		{fl.ReplaceOne, 100, CalibrationPublished, 0.5, fl.ZeroOut},
		{fl.ReplaceOne, 2, CalibrationTight, 0.5, fl.ReplaceOne},
		{fl.ReplaceOne, 100, CalibrationTight, 0.5, fl.ReplaceOne},
	} {
		in := Config{Clients: 3, Capacity: 5, Epsilon: 0.8, Delta: 1e-6, Relation: c.relation, Base: BBGN, Calibration: c.calibration}
		want := in
		want.Epsilon, want.Delta, want.Relation = 0.8*c.part, 1e-6*c.part, c.want
		if got := perInstance(in, c.bound); got != want {
			t.Errorf("%s, bound %d, %s: %+v, want %+v", c.relation, c.bound, c.calibration, got, want)
		}
	}
}
