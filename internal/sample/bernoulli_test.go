package sample

import (
	"math"
	"testing"
)

func TestBernoulliComparesAllDigits(t *testing.T) {
	x := fraction{hi: 7, lo: 5}
	for _, c := range []struct {
		source []uint64
		want   bool
	}{{[]uint64{6}, true}, {[]uint64{8}, false}, {[]uint64{7, 4}, true}, {[]uint64{7, 5}, false}} {
		if got := x.bernoulli(scripted(c.source...)); got != c.want {
			t.Errorf("digits %v against %v: %t", c.source, x, got)
		}
	}
}

func TestBernoulliExponentials(t *testing.T) {
	rng := newRand()
	for name, c := range map[string]struct {
		draw func() bool
		x    float64
	}{
		"1/e":      {func() bool { return bernoulliInverseE(rng) }, 1},
		"e^−0.5":   {func() bool { return fraction{hi: 1 << 63}.bernoulliExp(rng) }, 0.5},
		"e^−0.875": {func() bool { return fraction{hi: 7 << 61}.bernoulliExp(rng) }, 0.875},
		"e^−0":     {func() bool { return fraction{}.bernoulliExp(rng) }, 1e-12},
		"γ = 3.25": {func() bool { return newGeometric(3.25).more(rng) }, 3.25},
		"γ = 0.75": {func() bool { return newGeometric(0.75 / 1024).more(rng) }, 0.75},
	} {
		n := 0.
		for range draws {
			if c.draw() {
				n++
			}
		}
		p := math.Exp(-c.x)
		if limit := deviations * math.Sqrt(draws*p*(1-p)); math.Abs(n-draws*p) > limit+1e-3 {
			t.Errorf("%s: %g of %d, want %g ± %g", name, n, draws, draws*p, limit)
		}
	}
}
