package trainer

import (
	"math"
	"testing"
)

// On every model: the same predictions after a step, no longer an L1 norm, and
// half of each row of the last layer at or below zero.
func TestShrinkL1(t *testing.T) {
	for _, name := range ModelNames() {
		in := Input{1, 10, 10}
		c := testCase{model: must[*Model](t)(NewModel(name, in, 5)), in: in, classes: 5}
		rng := testRand(3)
		x, labels := c.examples(rng, 4)
		p := c.params(rng)
		w := must[*Worker](t)(c.model.NewWorker(4))
		e := must[*Evaluator](t)(c.model.NewEvaluator(4))
		plain := make([]float64, len(p))
		if _, err := w.Gradient(plain, p, x, labels); err != nil {
			t.Fatal(err)
		}
		short := append([]float64(nil), plain...)
		if err := ShrinkL1(c.model, short); err != nil {
			t.Fatal(err)
		}
		losses := make([]float64, 0, 2)
		norms := make([]float64, 0, 2)
		for _, g := range [][]float64{plain, short} {
			moved, norm := append([]float64(nil), p...), 0.0
			for i, v := range g {
				moved[i] -= 0.5 * v
				norm += math.Abs(v)
			}
			_, loss, err := e.Evaluate(moved, x, labels)
			if err != nil {
				t.Fatal(err)
			}
			losses, norms = append(losses, loss), append(norms, norm)
		}
		if math.Abs(losses[0]-losses[1]) > 1e-9*losses[0] {
			t.Errorf("%s: the loss after a step is %g with the gradient and %g with the short one", name, losses[0], losses[1])
		}
		if !(norms[1] < norms[0]) {
			t.Errorf("%s: the norm went from %g to %g", name, norms[0], norms[1])
		}
		layout := c.model.Layout()
		for from := layout[len(layout)-2].Offset; from < len(short); from += 5 {
			below, above := 0, 0
			for k, v := range short[from : from+5] {
				if v < 0 {
					below++
				} else if v > 0 {
					above++
				}
				// A row is shifted as a whole.
				if shift := plain[from] - short[from]; math.Abs(plain[from+k]-v-shift) > 1e-12 {
					t.Fatalf("%s: row at %d is not shifted as a whole", name, from)
				}
			}
			if below > 2 || above > 2 {
				t.Fatalf("%s: row at %d has %d entries below and %d above zero, want at most 2", name, from, below, above)
			}
		}
		if err := ShrinkL1(c.model, short[1:]); err == nil {
			t.Errorf("%s: a short gradient was taken", name)
		}
		_, _ = w.Close(), e.Close()
	}
}

// At the zero model of three classes the shifted derivatives are −1 for the label and 0
// for the others: a gradient's norm is the norm of the example and the bias.
func TestGradientNorms(t *testing.T) {
	model, err := NewModel("softmax", Input{Channels: 1, Height: 1, Width: 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	params := make([]float64, model.Dim())
	l1, l2, err := GradientNorms(model, params, [][]float64{{3, 0}, {0, 1}}, []int{0, 2})
	if err != nil || math.Abs(l1-(4+2)/2.) > 1e-12 || math.Abs(l2-(math.Sqrt(10)+math.Sqrt2)/2) > 1e-12 {
		t.Errorf("norms %g and %g, %v", l1, l2, err)
	}
	for name, f := range map[string]func() (float64, float64, error){
		"no examples": func() (float64, float64, error) { return GradientNorms(model, params, nil, nil) },
		"NaN": func() (float64, float64, error) {
			return GradientNorms(model, params, [][]float64{{math.NaN(), 0}}, []int{0})
		},
	} {
		if _, _, err := f(); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}
