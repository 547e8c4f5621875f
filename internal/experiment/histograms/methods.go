package histograms

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/hetero"
)

// method estimates a histogram.
type method struct {
	name  string
	build func(p *population) (estimator, error)
}

type estimator func(rng *rand.Rand) ([]float64, error)

// failure is β of the PAC weights.
const failure = 0.05

// weighted is HPF with the given weights.
func weighted(weigh func(p *population) (hetero.Weights, error)) func(*population) (estimator, error) {
	return func(p *population) (estimator, error) {
		w, err := weigh(p)
		if err != nil {
			return nil, err
		}
		h, err := hetero.NewHistogram(p.eps, w, p.categories)
		if err != nil {
			return nil, err
		}
		return func(rng *rand.Rand) ([]float64, error) { return h.Estimate(p.values, rng) }, nil
	}
}

// optimal is weighted with an optimiser and the factor of a setting.
func optimal(weigh func([]float64, float64) (hetero.Weights, error), factor func(categories int) (float64, error)) func(*population) (estimator, error) {
	return weighted(func(p *population) (hetero.Weights, error) {
		l, err := factor(p.categories)
		if err != nil {
			return nil, err
		}
		return weigh(p.eps, l)
	})
}

func pac(categories int) (float64, error) { return hetero.PACFactor(categories, failure) }

// turbo is T in the uncorrelated setting.
func turbo(p *population) (hetero.Weights, error) {
	l, err := pac(p.categories)
	if err != nil {
		return nil, err
	}
	return hetero.Turbo(p.eps, l)
}

func byDemand(weigh func([]float64) (hetero.Weights, error)) func(*population) (estimator, error) {
	return weighted(func(p *population) (hetero.Weights, error) { return weigh(p.eps) })
}

// sampling is SM with its threshold at a statistic of the demands.
func sampling(threshold func([]float64) float64) func(*population) (estimator, error) {
	return func(p *population) (estimator, error) {
		s, err := hetero.NewSampling(p.eps, threshold(p.eps), p.categories)
		if err != nil {
			return nil, err
		}
		return func(rng *rand.Rand) ([]float64, error) { return s.Histogram(p.values, rng) }, nil
	}
}

func average(eps []float64) float64 { return stat.Mean(eps, nil) }

// local is LDP, everybody with the same weight.
func local(p *population) (estimator, error) {
	w := make(hetero.Weights, len(p.eps))
	for i := range w {
		w[i] = 1 / float64(len(w))
	}
	l, err := hetero.NewLocal(p.eps, w, p.categories)
	if err != nil {
		return nil, err
	}
	return func(rng *rand.Rand) ([]float64, error) { return l.Histogram(p.values, rng) }, nil
}

// ours come first, the baselines after them.
var methods = []method{
	{"A", byDemand(hetero.Saturating)},
	{"C, PAC", optimal(hetero.Correlated, pac)},
	{"C, MSE", optimal(hetero.Correlated, hetero.MSEFactor)},
	{"U, PAC", optimal(hetero.Uncorrelated, pac)},
	{"U, MSE", optimal(hetero.Uncorrelated, hetero.MSEFactor)},
	{"T", weighted(turbo)},
	{"Prop", byDemand(hetero.Proportional)},
	{"UNI", byDemand(hetero.Uniform)},
	{"SM, max", sampling(slices.Max[[]float64])},
	{"SM, mean", sampling(average)},
	{"LDP", local},
}

var baselines = []string{"Prop", "UNI", "SM, max", "SM, mean", "LDP"}

// largestError is the ℓ∞ distance of two histograms.
func largestError(got, want []float64) float64 {
	var worst float64
	for j, v := range got {
		worst = math.Max(worst, math.Abs(v-want[j]))
	}
	return worst
}
