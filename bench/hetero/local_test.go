package hetero_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

func TestLocalMoments(t *testing.T) {
	eps, reals, categories := group()
	w, rng := must(hetero.Saturating(eps)), newRand()
	mean, frequencies := averages(w, reals, categories)
	l := must(hetero.NewLocal(eps, w, 1))
	ofMean, ofFrequencies := 0., make([]float64, 3)
	for i := range reals {
		ofMean += 2 * w[i] * w[i] / (eps[i] * eps[i])
		// A bit's report is 1/2 ± coth/2 and has the mean of the bit; 0 and 1 are as far from 1/2.
		coth := 1 / math.Tanh(eps[i]/4)
		for j := range ofFrequencies {
			ofFrequencies[j] += w[i] * w[i] * (coth*coth - 1) / 4
		}
	}
	requireMoments(t, "mean", []float64{mean}, []float64{ofMean}, func() []float64 {
		return []float64{must(l.Mean(reals, rng))}
	})
	l = must(hetero.NewLocal(eps, w, 3))
	requireMoments(t, "histogram", frequencies, ofFrequencies, func() []float64 {
		return must(l.Histogram(categories, rng))
	})
}

func TestNewLocalCopies(t *testing.T) {
	w := hetero.Weights{1, 0}
	l := must(hetero.NewLocal([]float64{inf, inf}, w, 1))
	w[0], w[1] = 0, 1
	requireClose(t, "mean", must(l.Mean([]float64{1, 0}, newRand())), 1, 0)
}

// The flips of the most careful clients leave a usable difference.
func TestLocalAtTheSmallestDemand(t *testing.T) {
	l, rng := must(hetero.NewLocal([]float64{hetero.MinEpsilon}, hetero.Weights{1}, 2)), newRand()
	for range 20 {
		for _, f := range must(l.Histogram([]int{1}, rng)) {
			if f != 0 && f != 1 { // 1/2 ± 2e9, clamped
				t.Errorf("frequency %g", f)
			}
		}
	}
}

// The objectives of the closed forms, by hand. No step of weight from one client to another
// improves them: they are convex, but for the minimum of two, whose parts are.
func TestLocalWeightsAreOptimal(t *testing.T) {
	spread := func(e float64) float64 {
		if math.IsInf(e, 1) {
			return 0
		}
		return 1 / math.Tanh(e/4) / e
	}
	correlated := func(eps, w []float64, l float64) (sum float64) {
		n := float64(len(w))
		for i, x := range w {
			sum += n*(x-1/n)*(x-1/n) + l*spread(eps[i])*x*x
		}
		return sum
	}
	uncorrelated := func(eps, w []float64, l float64) (sum float64) {
		for i, x := range w {
			sum += l*x*x + l*spread(eps[i])*x*x
		}
		return min(sum, correlated(eps, w, l))
	}
	rng, wins := newRand(), [2]int{}
	for range 200 {
		eps := demands(rng, 2+rng.IntN(8))
		l := math.Exp(6*rng.Float64() - 3)
		for name, c := range map[string]struct {
			weigh     func([]float64, float64) (hetero.Weights, error)
			objective func(eps, w []float64, l float64) float64
		}{"correlated": {hetero.LocalCorrelated, correlated}, "uncorrelated": {hetero.LocalUncorrelated, uncorrelated}} {
			w := must(c.weigh(eps, l))
			got := c.objective(eps, w, l)
			for i := range w {
				for j := range w {
					for _, step := range []float64{1e-6, 1e-3, 0.1} {
						other := append([]float64(nil), w...)
						if step = min(step, other[j]); i == j || step == 0 {
							continue
						}
						other[i], other[j] = other[i]+step, other[j]-step
						if at := c.objective(eps, other, l); at < got*(1-1e-9) {
							t.Fatalf("%s, ε = %v, L = %g: %g, after a step of %g from %d to %d %g", name, eps, l, got, step, j, i, at)
						}
					}
				}
			}
		}
		if u, c := must(hetero.LocalUncorrelated(eps, l)), must(hetero.LocalCorrelated(eps, l)); u[0] == c[0] {
			wins[0]++
		} else {
			wins[1]++
		}
	}
	if wins[0] == 0 || wins[1] == 0 {
		t.Errorf("the parts of the minimum win %v times", wins)
	}
}

func TestLocalWeightsByHand(t *testing.T) {
	// coth(1)/4 and coth(2)/8.
	a, b := 1/math.Tanh(1)/4, 1/math.Tanh(2)/8
	w := must(hetero.LocalCorrelated([]float64{4, 8, inf}, 3))
	sum := 1/(3+3*a) + 1/(3+3*b) + 1./3
	for i, want := range []float64{1 / (3 + 3*a), 1 / (3 + 3*b), 1. / 3} {
		requireClose(t, "weight", w[i], want/sum, 1e-12)
	}
}
