package trainer

import (
	"errors"
	"math"
	"testing"
)

func TestEvaluate(t *testing.T) {
	for _, c := range []testCase{
		softmaxCase(t, Input{1, 3, 3}, 4), mlpCase(t, Input{1, 3, 3}, 4, 5), cnnCase(t, Input{2, 10, 12}, 3, 2, 3),
	} {
		rng := testRand(1)
		x, labels := c.examples(rng, 7)
		p := c.params(rng)
		// The reference accuracy: an example is right when no other label has a
		// smaller loss.
		right := 0
		for i := range x {
			best, own := math.Inf(1), c.loss(p, x[i:i+1], labels[i:i+1])
			for class := range c.classes {
				best = min(best, c.loss(p, x[i:i+1], []int{class}))
			}
			if own == best {
				right++
			}
		}
		for _, batch := range []int{1, 3, 7, 10} {
			e := must[*Evaluator](t)(c.model.NewEvaluator(batch))
			accuracy, loss, err := e.Evaluate(p, x, labels)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.loss(p, x, labels); math.Abs(loss-want) > 1e-12*(1+want) {
				t.Errorf("%s B=%d: loss %g, want %g", c.name, batch, loss, want)
			}
			if want := float64(right) / 7; accuracy != want {
				t.Errorf("%s B=%d: accuracy %g, want %g", c.name, batch, accuracy, want)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Of equal logits the first wins.
func TestEvaluateTies(t *testing.T) {
	e := must[*Evaluator](t)(softmaxCase(t, Input{1, 1, 1}, 4).model.NewEvaluator(2))
	accuracy, loss, err := e.Evaluate(make([]float64, 8), [][]float64{{1}, {1}, {1}, {1}}, []int{0, 1, 2, 3})
	if err != nil || accuracy != 0.25 || math.Abs(loss-math.Log(4)) > 1e-15 {
		t.Errorf("got %g, %g, %v", accuracy, loss, err)
	}
	if _, _, err := e.Evaluate(make([]float64, 7), [][]float64{{1}}, []int{0}); err == nil {
		t.Error("accepted 7 parameters of 8")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := e.Evaluate(make([]float64, 8), [][]float64{{1}}, []int{0}); !errors.Is(err, errClosed) {
		t.Errorf("after Close: got %v", err)
	}
}

// A thousand images of 28×28 pixels.
func BenchmarkEvaluate(b *testing.B) {
	for _, name := range ModelNames() {
		in := Input{1, 28, 28}
		c := testCase{model: must[Model](b)(NewModel(name, in, 10)), in: in, classes: 10}
		b.Run(name, func(b *testing.B) {
			rng := testRand(1)
			x, labels := c.examples(rng, 1000)
			e := must[*Evaluator](b)(c.model.NewEvaluator(100))
			p := c.model.Init(rng)
			for b.Loop() {
				if _, _, err := e.Evaluate(p, x, labels); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
