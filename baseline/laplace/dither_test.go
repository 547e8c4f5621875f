package laplace

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Over all starts that matter, the integers add up to the coordinates exactly, are next to
// them, and never exceed the norm together.
func TestDitherIsExact(t *testing.T) {
	const parts, norm = 64, 5
	grad := []float64{1.25, -0.5, 0, 2.015625, -0.984375, 0.25} // Σ|x| = norm, multiples of 1/64
	sum := make([]float64, len(grad))
	for start := range uint64(parts) {
		d := newDither(norm, rand.New(rand.NewChaCha8([32]byte{})))
		d.sum = start << (fractionBits - 6)
		total := int64(0)
		for j, x := range grad {
			k := d.round(x * (1 << fractionBits))
			if math.Abs(float64(k)-x) >= 1 || float64(k)*x < 0 {
				t.Errorf("start %d: %g becomes %d", start, x, k)
			}
			total += max(k, -k)
			sum[j] += float64(k)
		}
		if total > norm {
			t.Errorf("start %d: the norm is %d, must be at most %d", start, total, norm)
		}
	}
	for j, x := range grad {
		if sum[j] != parts*x {
			t.Errorf("coordinate %d: %g on average, want %g", j, sum[j]/parts, x)
		}
	}
}

// A gradient that is too long, as by rounding, is cut off.
func TestDitherNeverExceedsTheNorm(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for range 1000 {
		const norm = 3
		d := newDither(norm, rng)
		total := int64(0)
		for range 20 {
			k := d.round((rng.Float64() - 0.5) * (1 << fractionBits))
			total += max(k, -k)
		}
		if total > norm {
			t.Fatalf("the norm is %d, must be at most %d", total, norm)
		}
	}
}

// Every start occurs: the start is uniform. Ten bins of 10 000 draws, 5.5 standard deviations.
func TestStartIsUniform(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	var counts [10]float64
	for range 10_000 {
		d := newDither(1, rng)
		counts[d.sum*10>>fractionBits]++
	}
	for i, c := range counts {
		if z := (c - 1000) / math.Sqrt(900); math.Abs(z) > 5.5 {
			t.Errorf("part %d: %v of 10000", i, c)
		}
	}
}
