package trainer_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/trainer"
)

// At the zero model of three classes the shifted derivatives are −1 for the label and 0
// for the others: the gradient is that of the example and the bias.
func TestGradientNorms(t *testing.T) {
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 1, Width: 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	params := make([]float64, model.Dim())
	l1, l2, err := trainer.GradientNorms(model, params, [][]float64{{3, 0}, {0, 1}}, []int{0, 2})
	if err != nil || math.Abs(l1-(4+2)/2.) > 1e-12 || math.Abs(l2-(math.Sqrt(10)+math.Sqrt2)/2) > 1e-12 {
		t.Errorf("norms %g and %g, %v", l1, l2, err)
	}
	for name, f := range map[string]func() (float64, float64, error){
		"no examples": func() (float64, float64, error) { return trainer.GradientNorms(model, params, nil, nil) },
		"NaN": func() (float64, float64, error) {
			return trainer.GradientNorms(model, params, [][]float64{{math.NaN(), 0}}, []int{0})
		},
	} {
		if _, _, err := f(); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}
