package exact

import (
	"math/big"
	"testing"
)

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

func TestEnumerateAtItsLimit(t *testing.T) {
	uniform := func(n uint64) error {
		_, err := Enumerate(10, func(c Chooser) (uint64, error) { return c.Uniform(n), nil })
		return err
	}
	weighted := func(positive, zero int) error {
		weights := make([]uint64, positive+zero)
		for i := range positive {
			weights[zero+i] = 2
		}
		_, err := Enumerate(10, func(c Chooser) (int, error) { return c.Weighted(weights), nil })
		return err
	}
	for what, err := range map[string]error{"10 values": uniform(10), "1 value": uniform(1), "10 weights and 5 zeros": weighted(10, 5)} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{"no value": uniform(0), "11 values": uniform(11), "11 weights": weighted(11, 0), "no weight": weighted(0, 0), "weights of sum 0": weighted(0, 2)} {
		if err == nil {
			t.Errorf("%s with a limit of 10: want an error", what)
		}
	}
}
