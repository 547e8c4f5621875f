package ternarize

import (
	"math"
	"testing"
)

// The chances are the clipped gradient over τ, with both clips.
func TestChancesAreTheClippedGradient(t *testing.T) {
	s, err := NewSampler(4, 2, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ grad, want []float64 }{
		{[]float64{0.25, -0.1, 0, 3}, []float64{0.5, -0.2, 0, 1}},                    // below Σ = τ·s, and one coordinate above τ
		{[]float64{9, -9, 0.25, -0.25}, []float64{2. / 3, -2. / 3, 1. / 3, -1. / 3}}, // 3τ in all
	} {
		got := make([]float64, 4)
		if err := s.Chances(got, c.grad); err != nil {
			t.Fatal(err)
		}
		for j, v := range got {
			if math.Abs(v-c.want[j]) > 1e-12 {
				t.Errorf("%v: %v, want %v", c.grad, got, c.want)
			}
		}
	}
	if s.Chances(make([]float64, 3), make([]float64, 4)) == nil || s.Chances(make([]float64, 4), make([]float64, 5)) == nil {
		t.Error("wrong lengths are accepted")
	}
}
