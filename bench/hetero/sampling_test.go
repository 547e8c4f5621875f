package hetero_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

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
