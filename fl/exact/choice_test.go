package exact

import (
	"math/rand/v2"
	"testing"
)

func TestPickGivesEveryIndexItsWeight(t *testing.T) {
	weights := []uint64{3, 0, 1, 5}
	got := make([]uint64, len(weights))
	for u := range total(weights) {
		got[pick(weights, u)]++
	}
	for i, w := range weights {
		if got[i] != w {
			t.Errorf("index %d is picked for %d values of u, want %d", i, got[i], w)
		}
	}
}

func TestRandStaysInRange(t *testing.T) {
	r := Rand{rand.New(rand.NewChaCha8([32]byte{1}))}
	for range 1000 {
		if v := r.Uniform(7); v >= 7 {
			t.Fatalf("Uniform(7) = %d", v)
		}
		if i := r.Weighted([]uint64{0, 1 << 61, 0}); i != 1 {
			t.Fatalf("Weighted took index %d of weight 0", i)
		}
	}
}
