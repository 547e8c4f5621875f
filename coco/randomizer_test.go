package coco

import (
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// When k items share a pair, the winner is the last one in a uniformly random
// order: each with probability exactly 1/k. One item is set apart from the others
// by its slot of the pair, once by the hash function and once by its sign, at
// every place of the list and with and without a further item in another pair.
func TestEveryItemOfAPairWinsEquallyOften(t *testing.T) {
	const slots = 12
	for shared := 2; shared <= 3; shared++ {
		for alone := range 2 { // items in a pair of their own, listed first
			s := shared + alone
			w, err := exact.NewWeights(1.5, s, slots)
			if err != nil {
				t.Fatal(err)
			}
			sampler := newSampler(w, s, slots)
			for odd := range shared {
				for _, bySign := range []bool{false, true} {
					x := fl.Ternary{Dim: s}
					hash := make(table, s)
					for i := range s {
						x.Index, x.Sign = append(x.Index, uint32(i)), append(x.Sign, 1)
						hash[i] = 4 // the pair {4, 5}
					}
					if alone > 0 {
						hash[0] = 9
					}
					if bySign {
						x.Sign[alone+odd] = -1
					} else {
						hash[alone+odd] = 5
					}
					checkWinner(t, sampler, x, hash, w, shared, alone)
				}
			}
		}
	}
}

// checkWinner checks how often slot 5 is the marked slot of its pair, and with
// what probability it is reported.
func checkWinner(t *testing.T, s *sampler, x fl.Ternary, hash table, w exact.Weights, shared, alone int) {
	t.Helper()
	law, err := exact.Enumerate(8, func(choose exact.Chooser) (uint32, error) {
		s.mark(x, hash, choose)
		return s.marked[alone], nil // pairs are numbered in the order of their first item
	})
	if err != nil {
		t.Fatal(err)
	}
	k := int64(shared)
	if len(law) != 2 || law[5] == nil || law[5].Cmp(big.NewRat(1, k)) != 0 {
		t.Errorf("hash %v, signs %v: the slot of one item of %d is marked with probability %v, want 1/%d", hash, x.Sign, shared, law[5], k)
	}
	reports, err := exact.Enumerate(16, func(choose exact.Chooser) (uint32, error) { return s.Slot(x, hash, choose), nil })
	if err != nil {
		t.Fatal(err)
	}
	// High with probability 1/k and otherwise Low, out of Total.
	weight := new(big.Int).Add(new(big.Int).SetUint64(w.High), new(big.Int).Mul(big.NewInt(k-1), new(big.Int).SetUint64(w.Low)))
	want := new(big.Rat).SetFrac(weight, new(big.Int).Mul(big.NewInt(k), new(big.Int).SetUint64(w.Total)))
	if reports[5] == nil || reports[5].Cmp(want) != 0 {
		t.Errorf("hash %v, signs %v: slot 5 is reported with probability %v, want %v", hash, x.Sign, reports[5], want)
	}
}
