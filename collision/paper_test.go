package collision

import (
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// Figure 1 of the paper: d = 6, s = 2, t = 4 and ε = log 2 on (0, 0, 1, 0, −1, 0), where Ω = 6. Two
// slots of items have 1/3 each and the others 1/6. With a conflict the one slot has 1/3 and the others 2/9.
func TestWorkedExampleOfThePaper(t *testing.T) {
	w, err := exact.NewWeights(math.Ln2, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	x := fl.Ternary{Dim: 6, Index: []uint32{2, 4}, Sign: []int8{1, -1}}
	for _, c := range []struct {
		second uint32 // the slot of the second item; the first one has slot 1
		want   [4]*big.Rat
	}{
		{3, [4]*big.Rat{big.NewRat(1, 6), big.NewRat(1, 3), big.NewRat(1, 6), big.NewRat(1, 3)}},
		{1, [4]*big.Rat{big.NewRat(2, 9), big.NewRat(1, 3), big.NewRat(2, 9), big.NewRat(2, 9)}},
	} {
		hash := make(table, 12)
		for key := range hash { // both items of a coordinate alike, as only one of them is asked for
			hash[key] = map[int]uint32{2: 1, 4: c.second}[key/2]
		}
		s := newSampler(w, 2, 4)
		law, err := exact.Enumerate(16, func(choose exact.Chooser) (uint32, error) { return s.Slot(x, hash, choose), nil })
		if err != nil {
			t.Fatal(err)
		}
		for slot, want := range c.want {
			// The weights are integers near the real ones.
			if off := new(big.Rat).Sub(law[uint32(slot)], want); off.Abs(off).Cmp(big.NewRat(1, 1e7)) > 0 {
				t.Errorf("items in 1 and %d: slot %d has %s, want %s", c.second, slot, law[uint32(slot)].FloatString(9), want)
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
