package histograms

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/hetero"
)

// method estimates a histogram.
type method struct {
	name     string
	estimate func(p *population, rng *rand.Rand) ([]float64, error)
}

// weigher chooses the weights of HPF.
type weigher func(p *population) (hetero.Weights, error)

// failure is β of the PAC weights: they are scored by the quantile 1−β.
const failure = 0.05

// weighted is HPF with the given weights.
func weighted(name string, weigh weigher) method {
	return method{name, func(p *population, rng *rand.Rand) ([]float64, error) {
		w, err := weigh(p)
		if err != nil {
			return nil, err
		}
		h, err := hetero.NewHistogram(p.eps, w, p.categories)
		if err != nil {
			return nil, err
		}
		return h.Estimate(p.values, rng)
	}}
}

// optimal is an optimiser with its factor of the noise.
func optimal(weigh func([]float64, float64) (hetero.Weights, error), factor func(categories int) (float64, error)) weigher {
	return func(p *population) (hetero.Weights, error) {
		l, err := factor(p.categories)
		if err != nil {
			return nil, err
		}
		return weigh(p.eps, l)
	}
}

func pac(categories int) (float64, error) { return hetero.PACFactor(categories, failure) }

func byDemand(weigh func([]float64) (hetero.Weights, error)) weigher {
	return func(p *population) (hetero.Weights, error) { return weigh(p.eps) }
}

// sampling is SM with its threshold at a statistic of the demands.
func sampling(name string, threshold func([]float64) float64) method {
	return method{name, func(p *population, rng *rand.Rand) ([]float64, error) {
		s, err := hetero.NewSampling(p.eps, threshold(p.eps), p.categories)
		if err != nil {
			return nil, err
		}
		return s.Histogram(p.values, rng)
	}}
}

func average(eps []float64) float64 { return stat.Mean(eps, nil) }

// local is LDP, all clients with the same weight.
func local(p *population, rng *rand.Rand) ([]float64, error) {
	w, err := hetero.Uniform(p.eps)
	if err != nil {
		return nil, err
	}
	l, err := hetero.NewLocal(p.eps, w, p.categories)
	if err != nil {
		return nil, err
	}
	return l.Histogram(p.values, rng)
}

// ours come first, the baselines after them. T has the weights of the uncorrelated
// setting.
var methods = []method{
	weighted("A", byDemand(hetero.Saturating)),
	weighted("C, PAC", optimal(hetero.Correlated, pac)),
	weighted("C, MSE", optimal(hetero.Correlated, hetero.MSEFactor)),
	weighted("U, PAC", optimal(hetero.Uncorrelated, pac)),
	weighted("U, MSE", optimal(hetero.Uncorrelated, hetero.MSEFactor)),
	weighted("T, PAC", optimal(hetero.Turbo, pac)),
	weighted("C, calibrated, PAC", calibratedC),
	weighted("C, calibrated, MSE", optimal(hetero.Correlated, hetero.HistogramMSEFactor)),
	weighted("U, calibrated, PAC", calibratedU),
	weighted("U, calibrated, MSE", optimal(hetero.Turbo, hetero.HistogramMSENoise)),
	weighted("Prop", byDemand(hetero.Proportional)),
	weighted("UNI", byDemand(hetero.Uniform)),
	sampling("SM, max", slices.Max[[]float64]),
	sampling("SM, mean", average),
	{"LDP", local},
}

// groups are the kinds of methods in the figure.
var groups = []string{"published weights", "calibrated weights", "baselines"}

// group is the place of the method's kind in groups.
func (m method) group() int {
	switch {
	case slices.Contains(baselines, m.name):
		return 2
	case strings.Contains(m.name, "calibrated"):
		return 1
	}
	return 0
}

// largestError is the ℓ∞ distance of two histograms.
func largestError(got, want []float64) float64 {
	var worst float64
	for j, v := range got {
		worst = math.Max(worst, math.Abs(v-want[j]))
	}
	return worst
}

// The published risks with the constants of the bounds behind them.
var (
	calibratedC = optimal(hetero.Correlated, func(categories int) (float64, error) {
		return hetero.HistogramPACFactor(categories, failure)
	})
	calibratedU = optimal(hetero.Turbo, func(categories int) (float64, error) {
		return hetero.HistogramPACNoise(categories, failure)
	})
)
