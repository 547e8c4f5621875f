package sparse_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/sparse"
)

// search is a search for a number of slots, and the error that it makes small.
type search struct {
	name  string
	best  func(sparse.Point) (int, error)
	error func(sparse.Point) (float64, error)
}

// checkBestSlots compares what searches find with what trying every number of slots finds, with both hash
// families. least is the smallest number for s entries. Numbers of the ideal family are step apart.
func checkBestSlots(t *testing.T, least func(s int) int, step int, searches ...search) {
	t.Helper()
	for _, hash := range []string{sparse.HashIdeal, sparse.HashGF2} {
		for _, p := range []sparse.Point{
			{Dim: 100, Sparsity: 1, Epsilon: 0.01}, {Dim: 100, Sparsity: 1, Epsilon: 5}, {Dim: 7850, Sparsity: 8, Epsilon: 0.1}, {Dim: 7850, Sparsity: 8, Epsilon: 1},
			{Dim: 7850, Sparsity: 64, Epsilon: 1}, {Dim: 100, Sparsity: 64, Epsilon: 5}, {Dim: 131072, Sparsity: 3, Epsilon: 2},
		} {
			p.Hash = hash
			for _, s := range searches {
				got, err := s.best(p)
				if err != nil {
					t.Fatal(err)
				}
				best, at := math.Inf(1), 0
				for slots := least(p.Sparsity); slots < 60*p.Sparsity*int(1+math.Exp(p.Epsilon)); slots += step {
					if hash == sparse.HashGF2 && slots&(slots-1) != 0 {
						continue // the family has powers of two only
					}
					p.Slots = slots
					mse, err := s.error(p)
					if err != nil { // more slots than the family has
						continue
					}
					if mse < best {
						best, at = mse, slots
					}
				}
				if got != at {
					t.Errorf("%s, %s, %+v: got t = %d, exhaustion finds %d", hash, s.name, p, got, at)
				}
			}
		}
	}
}
