package demands

import (
	"math"
	"math/rand/v2"
)

// dependence is a reading of how the paper's synthetic sets correlate a client's demand with
// its category. The paper says only that the demand is "randomly sampled, with different
// distributions for users in different bins".
type dependence uint8

const (
	// halves: clients whose ε is below the median have the categories in reverse.
	halves dependence = iota
	// sorted: everything. Clients in the order of their ε fill the categories in turn.
	sorted
	// windows: category c of k has the c-th of k equal windows of ln ε to itself.
	windows
	// overlapping: windows of half the range, whose centres move with the category.
	overlapping
	// narrow: windows of a range that is 2/5 as long, so that ε differs by e⁴ at most.
	narrow
	// weak: halves for one client in ten, nothing for the others.
	weak
)

var readings = []dependence{halves, sorted, windows, overlapping, narrow, weak}

func (d dependence) String() string {
	return [...]string{"halves", "sorted", "windows", "overlapping", "narrow", "weak"}[d]
}

// logRange bounds |ln ε|.
func (d dependence) logRange() float64 {
	if d == narrow {
		return 2
	}
	return 5
}

// window returns the part of the range of ln ε, as a part of [0, 1], in which clients
// of a category have their demands.
func (d dependence) window(category, categories int) (low, width float64) {
	switch d {
	case windows, narrow:
		return float64(category) / float64(categories), 1 / float64(categories)
	case overlapping:
		return float64(category) / float64(2*(categories-1)), 0.5
	}
	return 0, 1
}

// draw draws n clients. Category c has probability (c+1)/(k·(k+1)/2), except for the clients
// that halves and weak give the reverse, and ln ε is uniform in the range, or in the window of
// the category.
func (d dependence) draw(n, categories int, rng *rand.Rand) *population {
	eps, values, category := make([]float64, n), make([]int, n), cumulative(triangle(categories))
	for i := range n {
		u, c := rng.Float64(), category(rng.Float64())
		low, width := d.window(c, categories)
		place := low + width*u
		switch {
		case d == sorted:
			c = category(place)
		case place < 0.5 && (d == halves || d == weak && rng.Float64() < 0.1):
			c = categories - 1 - c
		}
		eps[i], values[i] = math.Exp(d.logRange()*(2*place-1)), c
	}
	return ofCategories(eps, values, categories)
}
