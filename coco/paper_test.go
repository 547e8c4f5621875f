package coco

import (
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// Figure 3 of the paper: d = 10, s = 3, t = 8 and ε = log 2 on (0, 0, 1, 0, −1, 0, 0, 0, −1, 0), where
// Ω = 11. Without a conflict each marked pair has 2/11 and 1/11, and the slots of the fourth pair have 1/11.
// When the first two items share a pair, with different slots, each wins half of the time: their slots
// have 3/22 each, and the slots of the two pairs without items have (11 − 6)/4 of 11, 5/44.
func TestWorkedExampleOfThePaper(t *testing.T) {
	const dim = 10
	w, err := exact.NewWeights(math.Ln2, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	x := fl.Ternary{Dim: dim, Index: []uint32{2, 4, 8}, Sign: []int8{1, -1, -1}}
	eleventh, shared, free := big.NewRat(1, 11), big.NewRat(3, 22), big.NewRat(5, 44)
	for name, c := range map[string]struct {
		hash [3]uint32 // of +
		want [8]*big.Rat
	}{
		// Items are in the slots 0, 3 and 5.
		"no conflict": {[3]uint32{0, 2, 4}, [8]*big.Rat{big.NewRat(2, 11), eleventh, eleventh, big.NewRat(2, 11), eleventh, big.NewRat(2, 11), eleventh, eleventh}},
		// The first two are in 0 and 1, the third in 5.
		"a conflict": {[3]uint32{0, 0, 4}, [8]*big.Rat{shared, shared, free, free, eleventh, big.NewRat(2, 11), free, free}},
	} {
		hash := make(table, dim)
		for i, j := range x.Index {
			hash[j] = c.hash[i]
		}
		s := newSampler(w, 3, 8)
		law, err := exact.Enumerate(16, func(choose exact.Chooser) (uint32, error) { return s.Slot(x, hash, choose), nil })
		if err != nil {
			t.Fatal(err)
		}
		for slot, want := range c.want {
			// The weights are integers near the real ones.
			if off := new(big.Rat).Sub(law[uint32(slot)], want); off.Abs(off).Cmp(big.NewRat(1, 1e7)) > 0 {
				t.Errorf("%s: slot %d has %s, want %s", name, slot, law[uint32(slot)].FloatString(9), want)
			}
		}
	}
}

// table is a hash function given by its values.
type table []uint32

// Bind implements sparse.HashFunc; a table is one function only.
func (table) Bind(uint32) {}

// Slot implements sparse.HashFunc.
func (t table) Slot(key uint32) uint32 { return t[key] }
