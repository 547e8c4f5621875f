package hetero_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/hetero"
)

func TestLocalMoments(t *testing.T) {
	eps, reals, categories := group()
	w, rng := must(hetero.Saturating(eps)), newRand()
	mean, frequencies := averages(w, reals, categories)
	l := must(hetero.NewLocal(eps, w, 1))
	// A report is 1/2 ± coth/2 and has the mean of the value.
	variance := func(i int, x, halves float64) float64 {
		coth := 1 / math.Tanh(eps[i]/halves)
		return w[i] * w[i] * (coth*coth/4 - (x-0.5)*(x-0.5))
	}
	ofMean, ofFrequencies := 0., make([]float64, 3)
	for i, x := range reals {
		ofMean += variance(i, x, 2)
		for j := range ofFrequencies {
			ofFrequencies[j] += variance(i, 1, 4) // 0 and 1 are as far from 1/2
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

func TestSamplingMoments(t *testing.T) {
	eps, reals, categories := group()
	rng := newRand()
	// At 2 everybody is in the sample: all of the variance is noise.
	for _, threshold := range []float64{2, 4} {
		chances, expected := make([]float64, len(eps)), 0.
		for i, e := range eps {
			chances[i] = math.Min(1, math.Expm1(e)/math.Expm1(threshold))
			expected += chances[i]
		}
		mean, frequencies := averages(chances, reals, categories)
		noise := 2. / (threshold * threshold)
		ofMean, ofFrequencies := noise, []float64{4 * noise, 4 * noise, 4 * noise}
		for i, p := range chances {
			ofMean += p * (1 - p) * (reals[i] - 0.5) * (reals[i] - 0.5)
			ofFrequencies[categories[i]] += p * (1 - p)
		}
		ofMean /= expected * expected
		for j := range ofFrequencies {
			ofFrequencies[j] /= expected * expected
		}
		s := must(hetero.NewSampling(eps, threshold, 1))
		requireMoments(t, "mean", []float64{mean}, []float64{ofMean}, func() []float64 {
			return []float64{must(s.Mean(reals, rng))}
		})
		s = must(hetero.NewSampling(eps, threshold, 3))
		requireMoments(t, "histogram", frequencies, ofFrequencies, func() []float64 {
			return must(s.Histogram(categories, rng))
		})
	}
}
