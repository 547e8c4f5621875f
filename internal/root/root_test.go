package root

import (
	"math"
	"testing"
)

// Solve must end, keep f <= 0 at its answer and be tight, whatever the shape of f.
func TestSolve(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(float64) float64
		root float64
	}{
		{"line", func(x float64) float64 { return 0.3 - x }, 0.3},
		{"steep", func(x float64) float64 { return 1e-3 - math.Pow(x, 9) }, math.Pow(1e-3, 1.0/9)},
		{"step", func(x float64) float64 { return math.Copysign(1, 0.7-x) }, 0.7},
		{"lopsided", func(x float64) float64 {
			if x < 0.7 {
				return 1e300
			}
			return -1e-300
		}, 0.7},
		{"infinite below", func(x float64) float64 { return math.Log(math.Max(0, 0.2-x)) + 3 }, 0.2 - math.Exp(-3)},
		{"infinite above", func(x float64) float64 { return 1/math.Max(0, x-0.5) - 4 }, 0.75},
		{"the smallest numbers", func(x float64) float64 {
			if x < 0.7 {
				return math.SmallestNonzeroFloat64
			}
			return 0
		}, 0.7},
	} {
		calls := 0
		got := Solve(func(x float64) float64 { calls++; return c.f(x) }, 0, 1, c.f(0), c.f(1))
		if c.f(got) > 0 || math.Abs(got/c.root-1) > 2*Tolerance {
			t.Errorf("%s: got %v, want %v from above", c.name, got, c.root)
		}
		if calls > 150 {
			t.Errorf("%s: %d calls", c.name, calls)
		}
	}
}
