package trainer

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// An adapter begins as the frozen layer, and has fewer parameters.
func TestAnAdapterBeginsAtTheFrozenLayer(t *testing.T) {
	in := Input{1, 4, 5}
	layer := softmaxCase(t, in, 6)
	rng := testRand(3)
	x, labels := layer.examples(rng, 40)
	frozen := layer.params(rng)
	floats.Scale(0.1, frozen)
	kept := slices.Clone(frozen)
	m := must[*Model](t)(NewAdapter(in, 6, 2, frozen))
	clear(frozen) // the model has a copy
	if want := 20*2 + 2 + 2*6 + 6; m.Dim() != want || m.Dim() >= layer.model.Dim() {
		t.Errorf("%d parameters, want %d", m.Dim(), want)
	}
	evaluate := func(m *Model, params []float64) [2]float64 {
		e := must[*Evaluator](t)(m.NewEvaluator(7))
		defer e.Close()
		accuracy, loss, err := e.Evaluate(params, x, labels)
		if err != nil {
			t.Fatal(err)
		}
		return [2]float64{accuracy, loss}
	}
	got, want := evaluate(m, m.Init(testRand(4))), evaluate(layer.model, kept)
	if got[0] != want[0] || !near(got[1:], want[1:]) {
		t.Errorf("accuracy and loss %g, want %g", got, want)
	}
	// It is not stuck there: the gradient by up is not zero.
	w := must[*Worker](t)(m.NewWorker(7))
	defer w.Close()
	grad := make([]float64, m.Dim())
	if _, err := w.Gradient(grad, m.Init(testRand(4)), x, labels); err != nil || floats.Norm(grad[m.Layout()[2].Offset:], 2) == 0 {
		t.Errorf("gradient %g, %v", grad, err)
	}
}

func TestAdapterErrors(t *testing.T) {
	in := Input{1, 1, 3}
	frozen := make([]float64, 3*4+4)
	for want, arguments := range map[string]struct {
		in            Input
		classes, rank int
		frozen        []float64
	}{
		"trainer: input: got {0 1 1}":                   {Input{0, 1, 1}, 4, 1, frozen},
		"trainer: classes: got 1":                       {in, 1, 1, frozen},
		"trainer: frozen: got 15, rule: must have 16":   {in, 4, 1, frozen[1:]},
		"trainer: rank: got 0, rule: must be in [1, 3]": {in, 4, 0, frozen},
		"trainer: rank: got 4, rule: must be in [1, 3]": {in, 4, 4, frozen},
	} {
		_, err := NewAdapter(arguments.in, arguments.classes, arguments.rank, arguments.frozen)
		refuses(t, err, want)
	}
}
