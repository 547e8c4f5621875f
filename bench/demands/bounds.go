package demands

import (
	"slices"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

// bounds are an error below which no mechanism with the demands stays on every data set with
// probability 1−β, and one that A stays below with that probability: 0 where some ε is
// above 1, or demands may depend on data.
func bounds(p *population, correlated bool) (lower, upper float64, err error) {
	if correlated {
		lower, err = hetero.CorrelatedLowerBound(p.eps, p.categories, failure)
		return lower, 0, err
	}
	if slices.Max(p.eps) <= 1 {
		if _, upper, err = hetero.UncorrelatedBounds(p.eps, p.categories, failure); err != nil {
			return 0, 0, err
		}
	}
	lower, err = hetero.UncorrelatedLowerBound(p.eps, p.categories, failure)
	return lower, upper, err
}
