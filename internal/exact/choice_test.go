package exact

import (
	"math/big"
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

// Two coins and a die that is thrown only after two heads: a tree of uneven
// depth with a weighted choice and an outcome of weight 0.
func TestEnumerateGivesExactProbabilities(t *testing.T) {
	law, err := Enumerate(6, func(c Chooser) (int, error) {
		heads := c.Weighted([]uint64{1, 0, 2}) // index 2 with probability 2/3
		if heads == 0 {
			return -1, nil
		}
		if c.Uniform(2) == 0 {
			return -1, nil
		}
		return int(c.Uniform(6)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]*big.Rat{-1: big.NewRat(2, 3)}
	for face := range 6 {
		want[face] = big.NewRat(1, 18)
	}
	if len(law) != len(want) {
		t.Fatalf("got %d outcomes, want %d", len(law), len(want))
	}
	for v, p := range want {
		if law[v] == nil || law[v].Cmp(p) != 0 {
			t.Errorf("P[%d] = %v, want %v", v, law[v], p)
		}
	}
}

func TestEnumerateRefusesWhatItCannotWalk(t *testing.T) {
	if _, err := Enumerate(10, func(c Chooser) (uint64, error) { return c.Uniform(11), nil }); err == nil {
		t.Error("11 outcomes with a limit of 10: want an error")
	}
	if _, err := Enumerate(10, func(c Chooser) (int, error) { return c.Weighted([]uint64{0, 0}), nil }); err == nil {
		t.Error("weights of sum 0: want an error")
	}
}
