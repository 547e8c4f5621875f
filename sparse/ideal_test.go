package sparse

import (
	"math"
	"testing"
)

// Over all seeds a key must fall into every slot equally often, and two keys
// into the same cell with probability 1/cells: χ² with 9 degrees of freedom for
// each of 4 keys, P[χ² > 51] = 7e-8, and z-tests at 5.5σ (4e-8) for pairs of
// neighbouring and distant keys. False-positive rate below 1e-6.
func TestIdealIsUniformAndPairwiseIndependent(t *testing.T) {
	const slots, seeds = 10, 200_000
	family, err := NewHashFamily(HashIdeal, HashShape{Layout: Paired, Dim: 1, Sparsity: 1, Slots: slots}, [32]byte{3})
	if err != nil {
		t.Fatal(err)
	}
	keys := []uint32{0, 1, 7849, 1 << 27}
	var hist [4][slots]int
	var same [4][4]int
	h := family.Func()
	for seed := range uint32(seeds) {
		h.Bind(seed)
		var got [4]uint32
		for i, k := range keys {
			got[i] = h.Slot(k)
			hist[i][got[i]]++
		}
		for i := range got {
			for j := range i {
				if got[i]>>1 == got[j]>>1 {
					same[i][j]++
				}
			}
		}
	}
	for i := range keys {
		chi2 := 0.0
		for _, n := range hist[i] {
			d := float64(n) - seeds/slots
			chi2 += d * d / (seeds / slots)
		}
		if chi2 > 51 {
			t.Errorf("key %d: χ² = %.1f over the slots, want below 51", keys[i], chi2)
		}
		for j := range i {
			p := family.Together()
			if math.Abs(p-0.2) > 1e-15 {
				t.Fatalf("Together() = %g, want 1/5", p)
			}
			z := (float64(same[i][j]) - seeds*p) / math.Sqrt(seeds*p*(1-p))
			if math.Abs(z) > 5.5 {
				t.Errorf("keys %d and %d share a pair %d times, %.1fσ off", keys[i], keys[j], same[i][j], z)
			}
		}
	}
}
