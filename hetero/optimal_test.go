package hetero_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/hetero"
)

func TestOptimaMatchBruteForce(t *testing.T) {
	rng := newRand()
	for trial := range 200 {
		n := 1 + trial%8
		eps, l := demands(rng, n), math.Pow(10, -2+4*rng.Float64())
		what := fmt.Sprintf("ε = %v, L = %g: ", eps, l)
		uncorrelated := bruteForce(eps, l, square, false) // of ‖w‖² + L·v²
		w := must(hetero.Turbo(eps, l))
		v := scale(w, eps)
		requireClose(t, what+"turbo", square(w)+l*v*v, uncorrelated, 1e-6)
		requireClose(t, what+"Σ turbo", floats.Sum(w), 1, 1e-14)
		correlated := bruteForce(eps, l*l, func(w []float64) float64 { d := distance(w); return d * d }, true)
		w = must(hetero.Correlated(eps, l))
		v = scale(w, eps)
		d := distance(w)
		requireClose(t, what+"correlated", d*d+l*l*v*v, correlated, 1e-6)
		requireClose(t, what+"Σ correlated", floats.Sum(w), 1, 1e-14)
		w = must(hetero.Uncorrelated(eps, l))
		r := must(hetero.UncorrelatedRisk(eps, w, l))
		requireClose(t, what+"uncorrelated", r*r, min(correlated, l*uncorrelated), 1e-6)
	}
}

// The risk is convex: a step from the optimum towards any other weights, however
// short, must not reduce it.
func TestNoExchangeImprovesCorrelated(t *testing.T) {
	rng := newRand()
	for range 200 {
		eps, l := demands(rng, 8), math.Pow(10, -2+4*rng.Float64())
		w := must(hetero.Correlated(eps, l))
		best := must(hetero.CorrelatedRisk(eps, w, l))
		for range 500 {
			other := must(hetero.Turbo(eps, math.Pow(10, -12+24*rng.Float64())))
			if rng.IntN(2) == 0 {
				for i := range other {
					other[i] = rng.ExpFloat64() * math.Min(eps[i], math.Pow(10, -6+10*rng.Float64()))
				}
				floats.Scale(1/floats.Sum(other), other)
			}
			step := math.Pow(10, -6*rng.Float64())
			for i := range other {
				other[i] = (1-step)*w[i] + step*other[i]
			}
			if r := must(hetero.CorrelatedRisk(eps, other, l)); r < best*(1-1e-12) {
				t.Fatalf("ε = %v, L = %g: %v has risk %g, %v has %g", eps, l, w, best, other, r)
			}
		}
	}
}

func TestOptimaAtTheEnds(t *testing.T) {
	for _, c := range []struct {
		eps  []float64
		l    float64
		want []float64
	}{
		{[]float64{1e-6}, 3, []float64{1}},
		{[]float64{inf}, 3, []float64{1}},
		{[]float64{inf, inf}, 3, []float64{0.5, 0.5}},
		{[]float64{2, 2, 2, 2}, 3, []float64{0.25, 0.25, 0.25, 0.25}},
		{[]float64{1e-6, 7, 3}, 0, []float64{1. / 3, 1. / 3, 1. / 3}}, // noise is free
		{[]float64{1, 2, 5}, 1e9, []float64{0.125, 0.25, 0.625}},      // nothing else counts
	} {
		for name, w := range map[string]hetero.Weights{
			"correlated":   must(hetero.Correlated(c.eps, c.l)),
			"uncorrelated": must(hetero.Uncorrelated(c.eps, c.l)),
			"turbo":        must(hetero.Turbo(c.eps, c.l)),
		} {
			for i := range w {
				requireClose(t, fmt.Sprintf("%s, ε = %v, L = %g", name, c.eps, c.l), w[i], c.want[i], 1e-14)
			}
		}
	}
}

// A user who asks for less privacy does no harm, and gets no smaller a weight.
func TestMonotonicity(t *testing.T) {
	rng := newRand()
	for range 300 {
		eps, l := demands(rng, 1+rng.IntN(8)), math.Pow(10, -2+4*rng.Float64())
		before := [2]float64{risk(eps, l, hetero.Correlated, hetero.CorrelatedRisk), risk(eps, l, hetero.Uncorrelated, hetero.UncorrelatedRisk)}
		for _, of := range []func([]float64, float64) (hetero.Weights, error){hetero.Correlated, hetero.Uncorrelated, hetero.Turbo} {
			w := must(of(eps, l))
			for i := range w {
				for j := range w {
					if eps[i] <= eps[j] && w[i] > w[j] {
						t.Fatalf("ε = %v, L = %g: weights %v", eps, l, w)
					}
				}
			}
		}
		eps[rng.IntN(len(eps))] *= math.Pow(10, 4*rng.Float64())
		after := [2]float64{risk(eps, l, hetero.Correlated, hetero.CorrelatedRisk), risk(eps, l, hetero.Uncorrelated, hetero.UncorrelatedRisk)}
		for k := range before {
			if after[k] > before[k]*(1+1e-12) {
				t.Fatalf("ε = %v, L = %g: risk %d rose from %g to %g", eps, l, k, before[k], after[k])
			}
		}
	}
}

func risk(eps []float64, l float64, of func([]float64, float64) (hetero.Weights, error), r func([]float64, hetero.Weights, float64) (float64, error)) float64 {
	return must(r(eps, must(of(eps, l)), l))
}

// The optimal and the default weights beat the baselines in the setting of the
// paper's experiments, ln ε uniform on [−5, 5].
func TestWeightsBeatBaselines(t *testing.T) {
	rng := newRand()
	eps := make([]float64, 10000)
	for i := range eps {
		eps[i] = math.Exp(-5 + 10*rng.Float64())
	}
	l := must(hetero.PACFactor(5, 0.05))
	of := func(w hetero.Weights, err error) float64 {
		return must(hetero.UncorrelatedRisk(eps, must(w, err), l))
	}
	best, heuristic := of(hetero.Uncorrelated(eps, l)), of(hetero.Saturating(eps))
	baseline := min(of(hetero.Uniform(eps)), of(hetero.Proportional(eps)))
	t.Logf("r_U: optimal %.4g, heuristic %.4g, better baseline %.4g", best, heuristic, baseline)
	if !(best <= heuristic && heuristic < baseline) {
		t.Errorf("r_U: optimal %g, heuristic %g, better baseline %g: not in order", best, heuristic, baseline)
	}
}
