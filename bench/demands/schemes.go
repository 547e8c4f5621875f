package demands

import (
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

// weigher chooses weights for a measure.
type weigher func(p *population, m measure) (hetero.Weights, error)

// kind is what estimates with the weights.
type kind uint8

const (
	central  kind = iota // HPF or HPM
	local                // LDP
	sampling             // SM, which has none
)

// scheme is an estimator of the table.
type scheme struct {
	name  string
	kind  kind
	weigh weigher
}

// Names of schemes that claims are about. In the paper's tables the optimum is one column.
const (
	heuristic    = "A"
	proportional = "Prop"
	uniform      = "UNI"
	jorgensen    = "SM"
	localReports = "LDP"
)

var (
	centrals  = []string{proportional, uniform, jorgensen}
	baselines = append(slices.Clone(centrals), localReports)
)

// optimum, turbo and calibrated name the weights made for a law.
func (l law) optimum() string    { return l.letter() }
func (l law) turbo() string      { return l.letter() + "-T" }
func (l law) calibrated() string { return "calibrated " + l.letter() }

func (l law) letter() string {
	if l.correlated {
		return "C"
	}
	return "U"
}

// schemes are the estimators for a law: the paper's in the order of its tables, then its fast
// surrogate, and for histograms the weights with the constants of the bounds, which are ours.
func (l law) schemes() []scheme {
	best, turbo, calibrated, reports := factored(hetero.Uncorrelated), turboU, calibratedU, factored(hetero.LocalUncorrelated)
	if l.correlated {
		best, turbo, calibrated, reports = factored(hetero.Correlated), turboC, calibratedC, factored(hetero.LocalCorrelated)
	}
	if l.mean() {
		reports = best // the paper, Appendix L.2
	}
	all := []scheme{
		{l.optimum(), central, best},
		{heuristic, central, byDemand(hetero.Saturating)},
		{proportional, central, byDemand(hetero.Proportional)},
		{uniform, central, byDemand(hetero.Uniform)},
		{jorgensen, sampling, nil},
		{localReports, local, reports},
		{l.turbo(), central, turbo},
	}
	if !l.mean() {
		all = append(all, scheme{l.calibrated(), central, calibrated})
	}
	return all
}

func byDemand(weigh func([]float64) (hetero.Weights, error)) weigher {
	return func(p *population, _ measure) (hetero.Weights, error) { return weigh(p.eps) }
}

func factored(weigh func([]float64, float64) (hetero.Weights, error)) weigher {
	return func(p *population, m measure) (hetero.Weights, error) {
		l, err := m.factor(p.categories)
		if err != nil {
			return nil, err
		}
		return weigh(p.eps, l)
	}
}

// turboC is the paper's Algorithm 3 with ‖·‖₁ bounded by √n·‖·‖₂: n·‖w−1/n‖₂² + L²·‖w/ε‖_∞².
func turboC(p *population, m measure) (hetero.Weights, error) {
	l, err := m.factor(p.categories)
	if err != nil {
		return nil, err
	}
	return hetero.Turbo(p.eps, l*l/float64(len(p.eps)))
}

// turboU takes the better of turboC and of the weights for L·‖w‖₂² + L²·‖w/ε‖_∞².
func turboU(p *population, m measure) (hetero.Weights, error) {
	l, err := m.factor(p.categories)
	if err != nil {
		return nil, err
	}
	biased, err := turboC(p, m)
	if err != nil {
		return nil, err
	}
	spread, err := hetero.Turbo(p.eps, l)
	if err != nil {
		return nil, err
	}
	objective := func(w hetero.Weights) float64 {
		square, scale := 0., 0.
		for i, x := range w {
			square += x * x
			scale = max(scale, x/p.eps[i])
		}
		return min(float64(len(w))*square-1, l*square) + l*l*scale*scale
	}
	if objective(biased) <= objective(spread) {
		return biased, nil
	}
	return spread, nil
}

func calibratedC(p *population, m measure) (hetero.Weights, error) {
	l, err := hetero.HistogramMSEFactor(p.categories)
	if m == quantile {
		l, err = hetero.HistogramPACFactor(p.categories, failure)
	}
	if err != nil {
		return nil, err
	}
	return hetero.Correlated(p.eps, l)
}

func calibratedU(p *population, m measure) (hetero.Weights, error) {
	noise, err := hetero.HistogramMSENoise(p.categories)
	if m == quantile {
		noise, err = hetero.HistogramPACNoise(p.categories, failure)
	}
	if err != nil {
		return nil, err
	}
	return hetero.Turbo(p.eps, noise)
}

// estimator publishes the histogram of values, or the mean of reals.
type estimator func(values []int, reals []float64, rng *rand.Rand) ([]float64, error)

// prepare returns the estimator for clients with the demands of p, and the risk of its weights:
// r_C or r_U of the measure, 0 where the estimator is none of the paper's.
func (s scheme) prepare(p *population, correlated bool, m measure) (estimator, float64, error) {
	if s.kind == sampling {
		e, err := sampled(p)
		return e, 0, err
	}
	w, err := s.weigh(p, m)
	if err != nil {
		return nil, 0, err
	}
	if s.kind == local {
		e, err := locally(p, w)
		return e, 0, err
	}
	l, err := m.factor(p.categories)
	if err != nil {
		return nil, 0, err
	}
	risk, err := hetero.UncorrelatedRisk(p.eps, w, l)
	if correlated {
		risk, err = hetero.CorrelatedRisk(p.eps, w, l)
	}
	if err != nil {
		return nil, 0, err
	}
	e, err := centrally(p, w)
	return e, risk, err
}

func centrally(p *population, w hetero.Weights) (estimator, error) {
	if p.categories == 1 {
		mean, err := hetero.NewMean(p.eps, w)
		return single(mean.Estimate), err
	}
	h, err := hetero.NewHistogram(p.eps, w, p.categories)
	return several(h.Estimate), err
}

func locally(p *population, w hetero.Weights) (estimator, error) {
	l, err := hetero.NewLocal(p.eps, w, p.categories)
	if p.categories == 1 {
		return single(l.Mean), err
	}
	return several(l.Histogram), err
}

// sampled is SM with its threshold at the largest ε.
func sampled(p *population) (estimator, error) {
	s, err := hetero.NewSampling(p.eps, slices.Max(p.eps), p.categories)
	if p.categories == 1 {
		return single(s.Mean), err
	}
	return several(s.Histogram), err
}

func single(mean func([]float64, *rand.Rand) (float64, error)) estimator {
	return func(_ []int, reals []float64, rng *rand.Rand) ([]float64, error) {
		x, err := mean(reals, rng)
		return []float64{x}, err
	}
}

func several(histogram func([]int, *rand.Rand) ([]float64, error)) estimator {
	return func(values []int, _ []float64, rng *rand.Rand) ([]float64, error) { return histogram(values, rng) }
}
