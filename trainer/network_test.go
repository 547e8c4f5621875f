package trainer

import (
	"math"
	"slices"
	"testing"
)

// The sample variance of n normal variables has relative standard deviation
// √(2/n), their mean has √(1/n) standard deviations. Five of either, in four
// tests, fail with probability 4·6e-7 < 3e-6.
func TestInit(t *testing.T) {
	m := must[Model](t)(NewMLP(Input{1, 20, 20}, 50, 100))
	p := m.Init(testRand(1))
	if !slices.Equal(p, m.Init(testRand(1))) {
		t.Error("equal generators give different vectors")
	}
	if slices.Equal(p, m.Init(testRand(2))) {
		t.Error("different generators give equal vectors")
	}
	for i, v := range must[Model](t)(NewSoftmax(Input{1, 3, 3}, 4)).Init(testRand(1)) {
		if v != 0 {
			t.Errorf("softmax: parameter %d starts at %g, want 0", i, v)
		}
	}
	variance := map[string]float64{"hidden.weight": 2. / 400, "output.weight": 1. / 100}
	for _, part := range m.Layout() {
		v, n := p[part.Offset:part.Offset+part.Size()], float64(part.Size())
		var sum, squares float64
		for _, e := range v {
			sum += e
			squares += e * e
		}
		want := variance[part.Name] // zero for a bias
		if math.Abs(sum/n) > 5*math.Sqrt(want/n) {
			t.Errorf("%s: mean %g", part.Name, sum/n)
		}
		if math.Abs(squares/n-want) > 5*want*math.Sqrt(2/n) {
			t.Errorf("%s: variance %g, want %g", part.Name, squares/n, want)
		}
	}
}
