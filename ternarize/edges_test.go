package ternarize

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// An L1 clip where the sum of the integer weights is not a multiple of s: the
// period is the sum over s rounded up, so that never more than s points fall into
// the sum, and the probabilities stay exact multiples of 1/period.
func TestThePeriodIsRoundedUp(t *testing.T) {
	for _, c := range []struct {
		sparsity int
		grad     []float64
	}{
		{3, []float64{1, 1, -1, 1}},             // 4 units over 3
		{3, []float64{1, -1, 1, 1, 1}},          // 5 units over 3
		{7, []float64{1, 1, 1, 1, 1, 1, 1, -1}}, // 8 units over 7
		{2, []float64{1, 1, 0x1p-52}},           // an odd number of the smallest weights
	} {
		s, err := NewSampler(len(c.grad), c.sparsity, 1)
		if err != nil {
			t.Fatal(err)
		}
		period, err := s.weigh(c.grad)
		if err != nil {
			t.Fatal(err)
		}
		sum, n := uint64(0), uint64(c.sparsity)
		for _, w := range s.weights {
			sum += w
		}
		if sum%n == 0 {
			t.Fatalf("%+v: the sum %d is a multiple of s", c, sum)
		}
		if want := sum/n + 1; period != want {
			t.Errorf("%+v: period %d, want ⌈%d/%d⌉ = %d", c, period, sum, n, want)
		}
		for _, start := range []uint64{0, 1, period / 2, period - 2, period - 1} {
			x := s.drawAt(c.grad, start, period)
			if err := x.Validate(len(c.grad), c.sparsity); err != nil {
				t.Errorf("%+v, start %d: %v", c, start, err)
			}
		}
	}
}

// Dummies are dim, dim+1, … with sign +1, whatever the gradient's signs.
func TestDummiesAreNumberedFromDimWithPlus(t *testing.T) {
	s, err := NewSampler(6, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Sample([]float64{0, -1, 0, -1, 0, 0}, rand.New(rand.NewChaCha8([32]byte{})))
	if err != nil || !slices.Equal(x.Index, []uint32{1, 3, 6, 7, 8}) || !slices.Equal(x.Sign, []int8{-1, -1, 1, 1, 1}) {
		t.Errorf("Sampler: %v %v, %v", x.Index, x.Sign, err)
	}
	top, err := NewTopS(6, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err = top.Sample([]float64{0, -1, 0, -2, 0, 0})
	if err != nil || !slices.Equal(x.Index, []uint32{1, 3, 6, 7, 8}) || !slices.Equal(x.Sign, []int8{-1, -1, 1, 1, 1}) {
		t.Errorf("TopS: %v %v, %v", x.Index, x.Sign, err)
	}
}

// Gradients that are not finite, and finite ones whose sum with the memory is
// not, are refused and leave the memory as it was.
func TestTopSRefusesOverflow(t *testing.T) {
	top, err := NewTopS(3, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := top.Sample([]float64{math.MaxFloat64, -math.MaxFloat64, 0.5}); err != nil {
		t.Fatal(err)
	}
	before := top.Memory()
	for name, grad := range map[string][]float64{
		"Inf": {0, 0, math.Inf(1)}, "-Inf": {0, 0, math.Inf(-1)},
		"overflow":          {0.25, -math.MaxFloat64, 0},
		"positive overflow": {math.MaxFloat64, 0, 0},
	} {
		if x, err := top.Sample(grad); err == nil {
			t.Errorf("%s: got %v, want an error", name, x.Index)
		}
		if !slices.Equal(before, top.Memory()) {
			t.Fatalf("%s: the memory went from %v to %v", name, before, top.Memory())
		}
	}
	if _, err := top.Sample([]float64{-1, 1, 0}); err != nil {
		t.Errorf("a gradient that fits: %v", err)
	}
}
