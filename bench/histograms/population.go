package histograms

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// population is clients with a demand and a category each, the most careful first.
type population struct {
	eps        []float64
	values     []int
	categories int
	truth      []float64
}

// newPopulation draws clients. Category c of k has probability (c+1)/(k·(k+1)/2),
// except for the clients that halves and weak give the reverse, and ln ε is uniform in the
// range, or in the window of the category.
func newPopulation(n int, s setting, rng *rand.Rand) *population {
	type client struct {
		place    float64 // of ln ε in its range
		category int
	}
	clients := make([]client, n)
	for i := range clients {
		u := rng.Float64()
		category := triangular(rng.Float64(), s.categories)
		low, width := s.window(category, s.categories)
		switch place := low + width*u; s.dependence {
		case sorted:
			clients[i] = client{place, triangular(place, s.categories)}
		case halves, weak:
			if place < 0.5 && (s.dependence == halves || rng.Float64() < 0.1) {
				category = s.categories - 1 - category
			}
			clients[i] = client{place, category}
		default:
			clients[i] = client{place, category}
		}
	}
	// The optimisers sort: in order, that costs them little.
	slices.SortFunc(clients, func(a, b client) int { return cmp.Compare(a.place, b.place) })
	p := &population{categories: s.categories, truth: make([]float64, s.categories)}
	for _, u := range clients {
		p.eps = append(p.eps, math.Exp(s.logRange()*(2*u.place-1)))
		p.values = append(p.values, u.category)
		p.truth[u.category] += 1 / float64(n)
	}
	return p
}

// triangular is the inverse distribution function of the categories: the largest c
// with c·(c+1) ≤ u·k·(k+1).
func triangular(u float64, categories int) int {
	target := u * float64(categories*(categories+1))
	return min(int((math.Sqrt(1+4*target)-1)/2), categories-1)
}
