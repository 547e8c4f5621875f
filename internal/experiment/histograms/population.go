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

// dependence is what a user's category has to do with its demand.
type dependence uint8

const (
	// uncorrelated: nothing. Category c has probability proportional to c + 1.
	uncorrelated dependence = iota
	// correlated: users whose ε is below the median have the categories in reverse.
	correlated
	// sorted: everything. Users in the order of their ε fill the categories in turn.
	sorted
)

func (d dependence) String() string { return [...]string{"uncorrelated", "correlated", "sorted"}[d] }

// newPopulation draws users: ln ε is uniform in [−5, 5].
func newPopulation(n, categories int, d dependence, rng *rand.Rand) *population {
	p := &population{categories: categories, truth: make([]float64, categories)}
	total := float64(categories*(categories+1)) / 2
	for range n {
		place := rng.Float64() // in the order of ε
		p.eps = append(p.eps, math.Exp(10*place-5))
		strict := place < 0.5
		if d != sorted {
			place = rng.Float64()
		}
		category := 0
		for left := place*total - 1; left >= 0 && category < categories-1; category++ {
			left -= float64(category + 2)
		}
		if d == correlated && strict {
			category = categories - 1 - category
		}
		p.values = append(p.values, category)
		p.truth[category] += 1 / float64(n)
	}
	return p
}
