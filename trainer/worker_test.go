package trainer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Every partial derivative of every model against central differences of the
// reference loss, for full, partial and several batches. With h = 1e-5 the
// difference quotient is off by h²/6 times a third derivative of order one to
// ten, and by 2^-53·loss/h < 1e-10 from rounding: 1e-8 in all. The seed is one
// for which no ReLU and no maximum changes its branch within h.
func TestGradientIsTheDerivative(t *testing.T) {
	in := Input{Channels: 2, Height: 3, Width: 2}
	for _, c := range []testCase{
		softmaxCase(t, in, 4),
		mlpCase(t, in, 4, 5),
		cnnCase(t, Input{Channels: 2, Height: 11, Width: 12}, 3, 2, 3),
		embedderCase(t, Input{Channels: 2, Height: 15, Width: 17}, 3, [3]int{2, 3, 2}, 4),
	} {
		for batch, counts := range map[int][]int{1: {2}, 3: {1, 3, 5}} {
			w := must[*Worker](t)(c.model.NewWorker(batch))
			defer w.Close()
			for _, n := range counts {
				rng := testRand(1)
				x, labels := c.examples(rng, n)
				p := c.params(rng)
				got := make([]float64, c.model.Dim())
				loss, err := w.Gradient(got, p, x, labels)
				if err != nil {
					t.Fatal(err)
				}
				if want := c.loss(p, x, labels); math.Abs(loss-want) > 1e-12*(1+want) {
					t.Errorf("%s B=%d n=%d: loss %g, reference %g", c.name, batch, n, loss, want)
				}
				for i := range got {
					v := make([]float64, len(p))
					v[i] = 1
					if want := c.along(p, v, 1e-5, x, labels); math.Abs(got[i]-want) > 1e-8 {
						t.Fatalf("%s B=%d n=%d: coordinate %d is %g, difference quotient %g", c.name, batch, n, i, got[i], want)
					}
				}
			}
		}
	}
}

func TestGradientErrors(t *testing.T) {
	c := softmaxCase(t, Input{1, 1, 2}, 3)
	w := must[*Worker](t)(c.model.NewWorker(2))
	dim := c.model.Dim()
	zero := func(n int) []float64 { return make([]float64, n) }
	with := func(n, i int, v float64) []float64 { s := zero(n); s[i] = v; return s }
	one := [][]float64{{0, 0}}
	for _, e := range []struct {
		dst, params []float64
		x           [][]float64
		labels      []int
		want        string
	}{
		{zero(dim - 1), zero(dim), one, []int{0}, "trainer: dst: got 8, rule: must have 9 elements"},
		{zero(dim), zero(dim + 1), one, []int{0}, "trainer: params: got 10, rule: must have 9 elements"},
		{zero(dim), with(dim, 4, math.NaN()), one, []int{0}, "trainer: params[4]: got NaN"},
		{zero(dim), with(dim, 5, math.Inf(-1)), one, []int{0}, "trainer: params[5]: got -Inf"},
		{zero(dim), with(dim, 6, 1.1e40), one, []int{0}, "trainer: params[6]: got 1.1e+40"},
		{zero(dim), zero(dim), nil, nil, "trainer: labels: got 0, rule: must be at least 1, and one for each of the 0 examples"},
		{zero(dim), zero(dim), one, []int{0, 1}, "trainer: labels: got 2, rule: must be at least 1, and one for each of the 1 examples"},
		{zero(dim), zero(dim), [][]float64{{0, 0}, {0}}, []int{0, 1}, "trainer: x[1]: got 1, rule: must have 2 elements"},
		{zero(dim), zero(dim), [][]float64{{0, 0}, {0, math.Inf(1)}}, []int{0, 1}, "trainer: x[1][1]: got +Inf"},
		{zero(dim), zero(dim), one, []int{-1}, "trainer: labels[0]: got -1, rule: must be in [0, 3)"},
		{zero(dim), zero(dim), one, []int{3}, "trainer: labels[0]: got 3, rule: must be in [0, 3)"},
	} {
		e.dst[0] = 7
		_, err := w.Gradient(e.dst, e.params, e.x, e.labels)
		if refuses(t, err, e.want); e.dst[0] != 7 {
			t.Errorf("%s: dst was changed", e.want)
		}
	}
	// The worker survives its errors, and its end.
	g := zero(dim)
	if _, err := w.Gradient(g, g, one, []int{1}); err != nil || !floats.EqualApprox(g[6:], []float64{1. / 3, -2. / 3, 1. / 3}, 1e-15) {
		t.Errorf("got %g, %v", g, err)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	if _, err := w.Gradient(g, zero(dim), one, []int{1}); !errors.Is(err, errClosed) {
		t.Errorf("after Close: got %v", err)
	}
}

// One gradient of a batch of B, at 28×28 pixels and ten classes.
func BenchmarkGradient(b *testing.B) {
	for _, name := range ModelNames() {
		for _, batch := range []int{1, 32} {
			in := Input{1, 28, 28}
			c := testCase{model: must[*Model](b)(NewModel(name, in, 10)), in: in, classes: 10}
			b.Run(fmt.Sprintf("%s/d=%d/B=%d", name, c.model.Dim(), batch), func(b *testing.B) {
				rng := testRand(1)
				x, labels := c.examples(rng, batch)
				w := must[*Worker](b)(c.model.NewWorker(batch))
				defer w.Close()
				p, g := c.model.Init(rng), make([]float64, c.model.Dim())
				b.ReportAllocs()
				for b.Loop() {
					if _, err := w.Gradient(g, p, x, labels); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch), "µs/example")
			})
		}
	}
}

// As many workers as processors, one example each.
func BenchmarkGradientParallel(b *testing.B) {
	c := softmaxCase(b, Input{1, 28, 28}, 10)
	b.RunParallel(func(pb *testing.PB) {
		rng := testRand(1)
		x, labels := c.examples(rng, 1)
		w, err := c.model.NewWorker(1)
		if err != nil {
			b.Error(err)
			return
		}
		defer w.Close()
		p, g := c.model.Init(rng), make([]float64, c.model.Dim())
		for pb.Next() {
			if _, err := w.Gradient(g, p, x, labels); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

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
		c := testCase{model: must[*Model](b)(NewModel(name, in, 10)), in: in, classes: 10}
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

// What is measured does not depend on the number of processors, to the last bit.
func TestAnEvaluationIsTheSameOnAnyNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	model, err := NewSoftmax(Input{Channels: 1, Height: 3, Width: 4}, 5)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 8))
	params, x, labels := make([]float64, model.Dim()), make([][]float64, 1003), make([]int, 1003)
	for i := range params {
		params[i] = rng.NormFloat64()
	}
	for i := range x {
		for range 12 {
			x[i] = append(x[i], rng.NormFloat64())
		}
		labels[i] = rng.IntN(5)
	}
	var all [][2]float64
	for _, n := range []int{1, 2, 3, 17} {
		runtime.GOMAXPROCS(n)
		e, err := model.NewEvaluator(100)
		if err != nil {
			t.Fatal(err)
		}
		accuracy, loss, err := e.Evaluate(params, x, labels)
		if err = errors.Join(err, e.Close()); err != nil {
			t.Fatal(err)
		}
		all = append(all, [2]float64{accuracy, loss})
	}
	worker, err := model.NewWorker(100)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	loss, err := worker.Gradient(make([]float64, model.Dim()), params, x, labels)
	if err != nil || math.Abs(all[0][1]-loss) > 1e-12 || all[0][0] < 0.1 || len(slices.Compact(all)) != 1 {
		t.Errorf("accuracies and losses %v, and the loss of a worker is %v, %v", all, loss, err)
	}
}
