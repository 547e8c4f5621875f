package exact

import "testing"

// Weights that would need more bits than there are, so many that what rounding
// loses would show, are refused.
func TestWeightsRefuseTooManySlots(t *testing.T) {
	for _, c := range []struct {
		eps  float64
		s, t int
	}{{0.1, 1, 1 << 40}, {1, 1, 1 << 40}, {20, 1 << 40, 1 << 41}} {
		if w, err := NewWeights(c.eps, c.s, c.t); err == nil {
			t.Errorf("NewWeights(%g, %d, %d) = %+v, want an error", c.eps, c.s, c.t, w)
		}
	}
	if _, err := NewWeights(0.1, 1, 1<<31); err != nil {
		t.Errorf("the most slots of a mechanism: %v", err)
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
	for what, err := range map[string]error{"no value": uniform(0), "11 values": uniform(11), "11 weights": weighted(11, 0), "no weight": weighted(0, 0)} {
		if err == nil {
			t.Errorf("%s with a limit of 10: want an error", what)
		}
	}
}
