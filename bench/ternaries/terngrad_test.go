package ternaries

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Each count is binomial; 4 coordinates at 5.5σ fail with probability below
// 2e-7. The largest coordinate is always kept and a zero never.
func TestTernGradIsUnbiased(t *testing.T) {
	const draws = 20_000
	grad := []float64{0.3, -2, 0, 0.9, -0.01}
	sum := make([]float64, len(grad))
	dst := make([]int8, len(grad))
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	for range draws {
		scale, err := TernGrad(dst, grad, rng)
		if err != nil || scale != 2 {
			t.Fatalf("scale %g, %v, want 2", scale, err)
		}
		for j, x := range dst {
			sum[j] += float64(x)
		}
	}
	for j, g := range grad {
		p := math.Abs(g) / 2
		if tolerance := 5.5 * math.Sqrt(draws*p*(1-p)); math.Abs(sum[j]-draws*g/2) > tolerance {
			t.Errorf("coordinate %d: sum %g, want %g ± %g", j, sum[j], draws*g/2, tolerance)
		}
	}
}

func TestTernGradEdges(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{}))
	dst := []int8{1, -1}
	if scale, err := TernGrad(dst, []float64{0, 0}, rng); err != nil || scale != 0 || dst[0] != 0 || dst[1] != 0 {
		t.Errorf("zero gradient: %v, scale %g, %v", dst, scale, err)
	}
	if scale, err := TernGrad(dst, []float64{3, -3}, nil); err != nil || scale != 3 || dst[0] != 1 || dst[1] != -1 {
		t.Errorf("without a generator: %v, scale %g, %v", dst, scale, err)
	}
	if _, err := TernGrad(dst, []float64{1}, rng); err == nil {
		t.Error("lengths differ: want an error")
	}
	if _, err := TernGrad(dst, []float64{1, math.Inf(1)}, rng); err == nil {
		t.Error("Inf: want an error")
	}
}
