package verify

import "github.com/hushgrad/hushgrad/fl"

// gradient is one adversarial input of a client. at is its value at a coordinate.
type gradient struct {
	name string
	dim  int
	at   func(j int) float64
}

func (g gradient) values() []float64 {
	values := make([]float64, g.dim)
	for j := range values {
		values[j] = g.at(j)
	}
	return values
}

// huge is how far gradients reach beyond Round.Scale: every clip is at work.
const huge = 1e6

// Indices into the list of gradients.
const (
	zero = iota
	firstUp
	firstDown
	lastUp
	denseUp
	denseDown
	blockUp
	blockDown
)

// gradients lists the inputs of the attack. A block has alternating signs. It is as many
// coordinates as a ternary vector has entries, or half of all without such a number.
func gradients(r fl.Round) []gradient {
	v := huge * r.Scale
	block, err := r.Params.Int(paramSparsity)
	if err != nil || block < 1 || block > r.Dim {
		block = (r.Dim + 1) / 2
	}
	only := func(i int, v float64) func(int) float64 {
		return func(j int) float64 {
			if j == i {
				return v
			}
			return 0
		}
	}
	alternating := func(v float64) func(int) float64 {
		return func(j int) float64 {
			switch {
			case j >= block:
				return 0
			case j%2 == 1:
				return -v
			}
			return v
		}
	}
	constant := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	return []gradient{
		zero:      {"zero", r.Dim, constant(0)},
		firstUp:   {"+first", r.Dim, only(0, v)},
		firstDown: {"-first", r.Dim, only(0, -v)},
		lastUp:    {"+last", r.Dim, only(r.Dim-1, v)},
		denseUp:   {"+all", r.Dim, constant(v)},
		denseDown: {"-all", r.Dim, constant(-v)},
		blockUp:   {"+block", r.Dim, alternating(v)},
		blockDown: {"-block", r.Dim, alternating(-v)},
	}
}

// pairs lists the pairs of gradients that the attack distinguishes. Neighbours under
// zero-out are those with the zero input in them.
func pairs(g fl.Guarantee, dim int) [][2]int {
	list := [][2]int{{zero, firstUp}, {zero, denseUp}}
	if g.Relation == fl.ReplaceOne {
		list = append(list, [2]int{firstUp, firstDown}, [2]int{denseUp, denseDown})
	}
	if g.Trust.Central() || dim == 1 {
		return list // what is left differs little from these, and a round is dear
	}
	list = append(list, [2]int{zero, blockUp})
	if g.Relation == fl.ReplaceOne {
		list = append(list, [2]int{firstUp, lastUp}, [2]int{firstUp, denseUp}, [2]int{blockUp, blockDown}, [2]int{blockUp, denseDown})
	}
	return list
}
