package trainer

import (
	"testing"

	"gonum.org/v1/gonum/floats"
)

// At a pre-activation of exactly 0 the derivative of the ReLU is 1.
func TestReLUAtZero(t *testing.T) {
	c := mlpCase(t, Input{1, 1, 1}, 2, 1)
	w := must[*Worker](t)(c.model.NewWorker(1))
	defer w.Close()
	g := make([]float64, 6)
	// hidden weight and bias 0, output weights 1 and 3, both classes at 1/2.
	if _, err := w.Gradient(g, []float64{0, 0, 1, 3, 0, 0}, [][]float64{{2}}, []int{0}); err != nil {
		t.Fatal(err)
	}
	// d loss/d logits = (-1/2, 1/2), so d loss/d hidden = (3-1)/2 = 1.
	if want := []float64{2, 1, 0, 0, -0.5, 0.5}; !floats.EqualApprox(g, want, 1e-15) {
		t.Errorf("got %g, want %g", g, want)
	}
}
