package histograms

import (
	"math"
	"math/rand/v2"
)

// population is users with a demand and a category each.
type population struct {
	eps        []float64
	values     []int
	categories int
	truth      []float64
}

// newPopulation draws users: ln ε is uniform in [−5, 5]. Uncorrelated users have
// category c with probability proportional to c + 1. Correlated ones are the same
// categories in the order of their demands: who demands most is in the first one.
func newPopulation(n, categories int, correlated bool, rng *rand.Rand) *population {
	p := &population{categories: categories, truth: make([]float64, categories)}
	total := float64(categories*(categories+1)) / 2
	for range n {
		place := rng.Float64() // in the order of ε
		p.eps = append(p.eps, math.Exp(10*place-5))
		if !correlated {
			place = rng.Float64()
		}
		category := 0
		for left := place*total - 1; left >= 0 && category < categories-1; category++ {
			left -= float64(category + 2)
		}
		p.values = append(p.values, category)
		p.truth[category] += 1 / float64(n)
	}
	return p
}
