package histograms

import "fmt"

// dependence is what a client's category has to do with its demand. The paper's
// correlated generator is not known to us: all but the first are readings of it.
type dependence uint8

const (
	// uncorrelated: nothing. Category c has probability proportional to c + 1.
	uncorrelated dependence = iota
	// halves: clients whose ε is below the median have the categories in reverse.
	halves
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

func (d dependence) String() string {
	return [...]string{"uncorrelated", "halves", "sorted", "windows", "overlapping", "narrow", "weak"}[d]
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

// setting is one row group of the table.
type setting struct {
	dependence
	categories int
}

func (s setting) String() string { return fmt.Sprintf("%s, k = %d", s.dependence, s.categories) }

var settings = []setting{
	{halves, 5}, {halves, 20},
	{sorted, 5}, {sorted, 20},
	{windows, 5}, {windows, 20},
	{overlapping, 5}, {overlapping, 20},
	{narrow, 5}, {narrow, 20},
	{uncorrelated, 5}, {uncorrelated, 20},
	{weak, 5}, {weak, 20},
}
