package trainer

import (
	"math"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Shapes with sides of one, odd sides, and the sizes of NewModel. Gorgonia
// treats some of them specially, and merges nodes by name and hash, so a graph
// that is right for one shape may be wrong for another. One random direction
// per shape; h = 1e-7 keeps clear of the kinks of larger networks, rounding
// then costs 2^-53·loss/h, about 1e-8, and the derivative along a direction is
// of order one to a hundred.
func TestGradientForManyShapes(t *testing.T) {
	var cases []testCase
	for _, in := range []Input{{1, 1, 1}, {1, 1, 2}, {2, 1, 1}, {1, 2, 1}, {1, 2, 3}, {1, 28, 28}} {
		for _, classes := range []int{2, 3, 10} {
			cases = append(cases, softmaxCase(t, in, classes))
			for _, hidden := range []int{1, 2, 32} {
				cases = append(cases, mlpCase(t, in, classes, hidden))
			}
		}
	}
	for _, in := range []Input{{1, 10, 10}, {1, 10, 11}, {2, 12, 14}, {3, 13, 10}, {1, 16, 16}} {
		for _, sizes := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {3, 4}} {
			cases = append(cases, cnnCase(t, in, 2, sizes[0], sizes[1]))
		}
	}
	cases = append(cases, cnnCase(t, Input{1, 28, 28}, 10, 8, 16), cnnCase(t, Input{3, 32, 32}, 10, 8, 16),
		embedderCase(t, Input{2, 15, 18}, 3, [3]int{2, 3, 2}, 4), embedderCase(t, Input{1, 28, 28}, 62, [3]int{8, 16, 32}, 64))
	for _, c := range cases {
		for _, batch := range []int{1, 3} {
			rng := testRand(byte(batch))
			x, labels := c.examples(rng, 2)
			p := c.params(rng)
			w := must[*Worker](t)(c.model.NewWorker(batch))
			got := make([]float64, c.model.Dim())
			if _, err := w.Gradient(got, p, x, labels); err != nil {
				t.Fatal(err)
			}
			w.Close()
			v := make([]float64, len(p))
			for i := range v {
				v[i] = rng.NormFloat64() / math.Sqrt(float64(len(v)))
			}
			if d, want := floats.Dot(got, v), c.along(p, v, 1e-7, x, labels); math.Abs(d-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s classes=%d B=%d: derivative %g, difference quotient %g", c.name, c.classes, batch, d, want)
			}
		}
	}
}

// The second row of the batch has all logits far below the first one's.
func TestLossIsStable(t *testing.T) {
	c := softmaxCase(t, Input{1, 1, 1}, 2)
	w := must[*Worker](t)(c.model.NewWorker(2))
	defer w.Close()
	g := make([]float64, 4)
	loss, err := w.Gradient(g, []float64{2000, 0, 0, 0}, [][]float64{{1}, {-1}}, []int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	// Both examples are classified wrongly, by a margin of 2000.
	if want := []float64{1, -1, 0, 0}; loss != 2000 || !slices.Equal(g, want) {
		t.Errorf("loss %g gradient %g, want 2000 and %g", loss, g, want)
	}
}

// The largest admissible numbers overflow nowhere, and none of the max-poolings
// sees a NaN.
func TestLargestMagnitudes(t *testing.T) {
	for _, c := range []testCase{
		softmaxCase(t, Input{1, 10, 10}, 3), mlpCase(t, Input{1, 10, 10}, 3, 4), cnnCase(t, Input{1, 10, 10}, 3, 2, 2),
	} {
		rng := testRand(1)
		x, labels := c.examples(rng, 3)
		p := c.params(rng)
		for _, v := range append(x, p) {
			for i := range v {
				v[i] = math.Copysign(maxMagnitude, v[i])
			}
		}
		w := must[*Worker](t)(c.model.NewWorker(2))
		g := make([]float64, len(p))
		loss, err := w.Gradient(g, p, x, labels)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range append(g, loss) {
			if math.IsNaN(e) || math.IsInf(e, 0) {
				t.Fatalf("%s: got %g", c.name, e)
			}
		}
		w.Close()
		examples := must[*Examples](t)(c.model.NewExamples(3))
		losses, err := examples.Run(p, x, labels)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if err := examples.Shrunk(g, i); err != nil {
				t.Fatal(err)
			}
			for _, e := range append(g, losses[i]) {
				if math.IsNaN(e) || math.IsInf(e, 0) {
					t.Fatalf("%s: example %d: got %g", c.name, i, e)
				}
			}
		}
		examples.Close()
	}
}

// Workers that are built and run at the same time give the same bits as one
// that is alone.
func TestConcurrentWorkers(t *testing.T) {
	for _, c := range []testCase{
		softmaxCase(t, Input{1, 28, 28}, 10), mlpCase(t, Input{1, 4, 4}, 3, 8), cnnCase(t, Input{1, 12, 12}, 3, 2, 3),
	} {
		rng := testRand(1)
		x, labels := c.examples(rng, 24)
		p := c.params(rng)
		gradients := func() (g [][]float64) {
			w := must[*Worker](t)(c.model.NewWorker(2))
			defer w.Close()
			for i := 0; i < len(x); i += 3 {
				g = append(g, make([]float64, len(p)))
				if _, err := w.Gradient(g[i/3], p, x[i:i+3], labels[i:i+3]); err != nil {
					t.Error(err)
				}
			}
			return g
		}
		// The concurrent ones come first, so that nothing is warmed up for them.
		const workers = 4
		var got [workers][][]float64
		var wg sync.WaitGroup
		for i := range workers {
			wg.Go(func() { got[i] = gradients() })
		}
		wg.Wait()
		want := gradients()
		for _, g := range got {
			if !slices.EqualFunc(g, want, slices.Equal) {
				t.Errorf("%s: a concurrent worker's gradients differ", c.name)
			}
		}
	}
}

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
