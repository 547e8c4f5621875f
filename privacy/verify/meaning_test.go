package verify_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

// bestGuess is the probability of a right guess between two inputs that are equally likely, from
// one report under a hash function: (1 + d)/2 for the total variation distance d of the two laws.
func bestGuess(t *testing.T, m verify.Enumerable, x, y fl.Ternary, seed uint32) float64 {
	t.Helper()
	var laws [2]map[string]*big.Rat
	for i, input := range []fl.Ternary{x, y} {
		var err error
		laws[i], err = exact.Enumerate(1<<16, func(choose exact.Chooser) (string, error) {
			report, err := m.EncodeChoosing(nil, input, seed, choose)
			return string(report), err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	distance := new(big.Rat)
	for report, p := range laws[0] {
		if q := laws[1][report]; q == nil {
			distance.Add(distance, p)
		} else if p.Cmp(q) > 0 {
			distance.Add(distance, new(big.Rat).Sub(p, q))
		}
	}
	d, _ := distance.Float64()
	return (1 + d) / 2
}

// What docs/threat-model.md says of one report: no pair of inputs is guessed better than by the
// formula, and some pair under some hash function is guessed as well.
func TestBestGuessFromOneReport(t *testing.T) {
	for _, c := range []struct {
		mechanism       string
		sparsity, slots int
		epsilon         float64
	}{{"coco", 2, 16, 2}, {"coco", 2, 4, 1}, {"collision", 2, 16, 2}, {"collision", 1, 5, 4.5}, {"signsketch", 1, 2, 4.5}} {
		slots := c.slots
		if c.mechanism == "signsketch" {
			slots = 0 // always two
		}
		m, err := fl.Open(mustComplete(t, round(c.mechanism, 6, c.sparsity, slots, "ideal", c.epsilon)))
		if err != nil {
			t.Fatal(err)
		}
		s, e := float64(c.sparsity), math.Exp(c.epsilon)
		formula := 0.5 + s*(e-1)/(2*(s*e+float64(c.slots)-s))
		best := 0.0
		signs := [][]int8{{1, 1}, {-1, 1}, {-1, -1}}
		for seed := range uint32(40) {
			for _, sign := range signs {
				x := fl.Ternary{Dim: 6, Index: []uint32{0, 1}[:c.sparsity], Sign: []int8{1, 1}[:c.sparsity]}
				for _, index := range [][]uint32{{0, 1}, {2, 3}, {1, 4}} {
					y := fl.Ternary{Dim: 6, Index: index[:c.sparsity], Sign: sign[:c.sparsity]}
					best = max(best, bestGuess(t, m.(verify.Enumerable), x, y, seed))
				}
			}
		}
		// Weights are rounded to integers, 2^-24 of their sum.
		if best > formula+1e-6 || best < formula-1e-6 {
			t.Errorf("%+v: the best guess is right with probability %.9f, want %.9f", c, best, formula)
		}
	}
}

func mustComplete(t *testing.T, r fl.Round) fl.Round {
	t.Helper()
	r, _, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
