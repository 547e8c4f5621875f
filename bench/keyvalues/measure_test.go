package keyvalues

import (
	"math"
	"testing"
)

// Two keys, s = 1: frequencies 0.75 and 0.25, means 0.25 and −0.25, and so items 0.5, 0.25, 0 and
// 0.25. The estimated items 0.9, 0.3, 0 and 0 are projected on 0.8, 0.2, 0 and 0: post-processed
// means are 0.6 and 0.
func TestDistancesByHand(t *testing.T) {
	p := &population{dim: 2, sparsity: 1, held: []float64{0.75, 0.25}, sum: []float64{0.25, -0.25}}
	want := map[metric]float64{frequencyTVE: 0.3 + 0.05 + 0 + 0.25, frequencyMAE: 0.3, meanMAE: 0.35, meanMAEPost: 0.35, meanTVEPost: 0.35 + 0.25}
	e := estimate{frequency: []float64{1.2, 0}, mean: []float64{0.6, 0}}
	e.mean[1] = 0
	got, err := p.logErrors(e, metrics)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range metrics {
		if math.Abs(math.Exp(got[i])-want[m]) > 1e-12 {
			t.Errorf("%s: %g, want %g", m.name(), math.Exp(got[i]), want[m])
		}
	}
	// Without frequencies the means are as they are.
	got, err = p.logErrors(estimate{mean: []float64{2, 0.5}}, meanMetrics)
	if err != nil || math.Abs(math.Exp(got[1])-1.75) > 1e-12 || math.Abs(math.Exp(got[2])-2.5) > 1e-12 {
		t.Errorf("means alone: %v, %v", got, err)
	}
}
