package trainer

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// Both sides of the limit between narrow and wide rows, over old contents.
func TestOuter(t *testing.T) {
	rng := testRand(1)
	for _, width := range []int{1, 2, narrow - 1, narrow, 33} {
		x, y := make([]float64, 7), make([]float64, width)
		for i := range x {
			x[i] = float64(rng.IntN(5) - 2) // zero, and both signs
		}
		for i := range y {
			y[i] = float64(rng.IntN(9) - 4)
		}
		want := make([]float64, 7*width)
		for j := range x {
			for k := range y {
				want[j*width+k] = x[j] * y[k]
			}
		}
		w := slices.Repeat([]float64{math.NaN()}, 7*width)
		if setOuter(w, x, y); !slices.Equal(w, want) {
			t.Errorf("width %d: got %g, want %g", width, w, want)
		}
		addOuter(w, x, y)
		for i := range w {
			if w[i] != 2*want[i] {
				t.Errorf("width %d: element %d is %g after adding, want %g", width, i, w[i], 2*want[i])
			}
		}
	}
}

// A layer on the pixels of a digit: two in three are black.
func BenchmarkOuter(b *testing.B) {
	for _, width := range []int{10, 32} {
		b.Run(fmt.Sprintf("196×%d", width), func(b *testing.B) {
			rng := testRand(1)
			x, y, w := make([]float64, 196), slices.Repeat([]float64{0.5}, width), make([]float64, 196*width)
			for i := range x {
				if rng.IntN(3) == 0 {
					x[i] = rng.Float64()
				}
			}
			for b.Loop() {
				setOuter(w, x, y)
			}
		})
	}
}
