package exact

import (
	"fmt"
	"math/big"
)

// Enumerate runs f once for every sequence of choices it can make and returns
// the exact law of its result. f must depend on nothing but its choices. It is
// an error when a single choice has more than maxBranches outcomes.
//
// Cost: as many runs of f as there are sequences.
func Enumerate[T comparable](maxBranches int, f func(Chooser) (T, error)) (map[T]*big.Rat, error) {
	walk := &walk{maxBranches: maxBranches}
	law := map[T]*big.Rat{}
	for {
		walk.depth = 0
		result, err := f(walk)
		if err == nil {
			err = walk.err
		}
		if err != nil {
			return nil, err
		}
		if law[result] == nil {
			law[result] = new(big.Rat)
		}
		law[result].Add(law[result], walk.probability())
		if !walk.next() {
			return law, nil
		}
	}
}

// walk is a depth-first walk over the tree of choices. The path from the root
// is replayed in every run.
type walk struct {
	maxBranches int
	path        []branching
	depth       int
	err         error
}

// branching is one choice on the path: its outcomes with weights of sum total,
// and the outcome taken in this run.
type branching struct {
	outcomes []outcome
	total    uint64
	taken    int
	reached  *big.Rat // probability of the path up to the outcome; nil until it is taken
}

type outcome struct{ value, weight uint64 }

// Uniform implements Chooser.
func (w *walk) Uniform(n uint64) uint64 {
	if w.depth == len(w.path) {
		if n == 0 || n > uint64(w.maxBranches) {
			w.fail("a uniform choice", n, w.maxBranches)
			return 0
		}
		b := branching{total: n}
		for v := range n {
			b.outcomes = append(b.outcomes, outcome{value: v, weight: 1})
		}
		w.path = append(w.path, b)
	}
	return w.take()
}

// Weighted implements Chooser.
func (w *walk) Weighted(weights []uint64) int {
	if w.depth == len(w.path) {
		b := branching{total: total(weights)}
		for i, weight := range weights {
			if weight > 0 {
				b.outcomes = append(b.outcomes, outcome{value: uint64(i), weight: weight})
			}
		}
		if len(b.outcomes) == 0 || len(b.outcomes) > w.maxBranches {
			w.fail("a weighted choice", uint64(len(b.outcomes)), w.maxBranches)
			return 0
		}
		w.path = append(w.path, b)
	}
	return int(w.take())
}

func (w *walk) take() uint64 {
	b := &w.path[w.depth]
	chosen := b.outcomes[b.taken]
	if b.reached == nil { // else as in the run before
		before := w.probability()
		weight, total := new(big.Int).SetUint64(chosen.weight), new(big.Int).SetUint64(b.total)
		b.reached = new(big.Rat).SetFrac(weight.Mul(weight, before.Num()), total.Mul(total, before.Denom()))
	}
	w.depth++
	return chosen.value
}

// probability returns the probability of the choices made so far.
func (w *walk) probability() *big.Rat {
	if w.depth == 0 {
		return big.NewRat(1, 1)
	}
	return w.path[w.depth-1].reached
}

func (w *walk) fail(choice string, outcomes uint64, most int) {
	if w.err == nil {
		w.err = fmt.Errorf("exact: outcomes of %s: got %d, rule: must be in [1, %d]", choice, outcomes, most)
	}
}

// next moves to the next path and says whether there is one.
func (w *walk) next() bool {
	for len(w.path) > 0 {
		last := &w.path[len(w.path)-1]
		if last.taken++; last.taken < len(last.outcomes) {
			last.reached = nil
			return true
		}
		w.path = w.path[:len(w.path)-1]
	}
	return false
}
