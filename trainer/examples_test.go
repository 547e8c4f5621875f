package trainer

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// alone returns the gradients and losses of single examples, one run of a
// Worker for each.
func (c testCase) alone(t testing.TB, params []float64, x [][]float64, labels []int) (gradients [][]float64, losses []float64) {
	w := must[*Worker](t)(c.model.NewWorker(1))
	defer w.Close()
	for i := range x {
		g := make([]float64, c.model.Dim())
		loss, err := w.Gradient(g, params, x[i:i+1], labels[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		gradients, losses = append(gradients, g), append(losses, loss)
	}
	return gradients, losses
}

// near says whether a is b up to rounding: 1e-12 of b's largest element.
func near(a, b []float64) bool {
	tol := 1e-12 * floats.Norm(b, math.Inf(1))
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tol }) // false for NaN
}

// Full, partial and repeated runs, with new parameters each time, against one
// run of a Worker per example. Shapes with sides of one come along because
// Gorgonia treats some of them specially, and merges nodes by name and hash.
func TestExamplesAreThoseOfTheWorker(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	var cases []testCase
	for _, in := range []Input{{1, 1, 1}, {1, 1, 2}, {2, 1, 1}, {1, 2, 3}, {1, 14, 14}} {
		for _, classes := range []int{2, 3, 10} {
			cases = append(cases, softmaxCase(t, in, classes))
			for _, hidden := range []int{1, 2, 32} {
				cases = append(cases, mlpCase(t, in, classes, hidden))
			}
		}
	}
	for _, in := range []Input{{1, 10, 10}, {1, 10, 11}, {2, 12, 14}, {3, 13, 10}} {
		for _, sizes := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {3, 4}} {
			cases = append(cases, cnnCase(t, in, 2, sizes[0], sizes[1]))
		}
	}
	cases = append(cases, cnnCase(t, Input{1, 28, 28}, 10, 8, 16), embedderCase(t, Input{2, 15, 18}, 4, [3]int{2, 3, 2}, 5))
	for _, c := range cases {
		for _, batch := range []int{1, 5} {
			rng := testRand(byte(batch))
			e := must[*Examples](t)(c.model.NewExamples(batch))
			got := make([]float64, c.model.Dim())
			for _, n := range []int{batch, (batch + 1) / 2, batch} {
				x, labels := c.examples(rng, n)
				for _, v := range x[0] { // rows of zeros, as black pixels are
					x[0][rng.IntN(len(x[0]))] *= math.Floor(v * v)
				}
				p := c.params(rng)
				want, losses := c.alone(t, p, x, labels)
				all, err := e.Run(p, x, labels)
				if err != nil {
					t.Fatal(err)
				}
				if !near(all, losses) {
					t.Errorf("%s B=%d n=%d: losses %g, want %g", c.name, batch, n, all, losses)
				}
				for i := range x {
					for j := range got {
						got[j] = math.NaN() // every element is written
					}
					if err := e.Gradient(got, i); err != nil {
						t.Fatal(err)
					}
					if !near(got, want[i]) {
						t.Errorf("%s classes=%d B=%d n=%d: gradient %d is %g, want %g", c.name, c.classes, batch, n, i, got, want[i])
					}
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Shrunk has the L1 norm of ShrinkL1 and differs from the gradient by one number
// in each row of the last layer, for both parities of the number of classes and,
// with softmax regression, activations of both signs.
func TestShrunk(t *testing.T) {
	in := Input{1, 10, 10}
	for _, classes := range []int{2, 3, 5, 10} {
		for _, c := range []testCase{softmaxCase(t, in, classes), mlpCase(t, in, classes, 6), cnnCase(t, in, classes, 2, 3)} {
			rng := testRand(4)
			x, labels := c.examples(rng, 3)
			p := c.params(rng)
			floats.Scale(0.1, p) // so that no class is certain
			e := must[*Examples](t)(c.model.NewExamples(4))
			if _, err := e.Run(p, x, labels); err != nil {
				t.Fatal(err)
			}
			plain, short, shift := make([]float64, len(p)), make([]float64, len(p)), make([]float64, classes)
			for i := range x {
				if err := errors.Join(e.Gradient(plain, i), e.Shrunk(short, i)); err != nil {
					t.Fatal(err)
				}
				want := slices.Clone(plain)
				if err := ShrinkL1(c.model, want); err != nil {
					t.Fatal(err)
				}
				if a, b := floats.Norm(short, 1), floats.Norm(want, 1); !(math.Abs(a-b) <= 1e-12*b) {
					t.Errorf("%s classes=%d: L1 norm %g, with ShrinkL1 %g, unshifted %g", c.name, classes, a, b, floats.Norm(plain, 1))
				}
				layout := c.model.Layout()
				output := layout[len(layout)-2].Offset
				if !slices.Equal(short[:output], plain[:output]) {
					t.Errorf("%s classes=%d: shifted below the last layer", c.name, classes)
				}
				for from := output; from < len(short); from += classes {
					floats.SubTo(shift, plain[from:from+classes], short[from:from+classes])
					if d := floats.Max(shift) - floats.Min(shift); !(d <= 1e-14) {
						t.Errorf("%s classes=%d: the shifts of the row at %d differ by %g", c.name, classes, from, d)
					}
				}
				// The bias is the row of activation 1. Its larger middle element
				// is the one that becomes zero.
				bias := slices.Sorted(slices.Values(short[len(short)-classes:]))
				if bias[classes/2] != 0 || bias[classes/2-1] == 0 {
					t.Errorf("%s classes=%d: the bias is %g in order", c.name, classes, bias)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestExamplesErrors(t *testing.T) {
	m := softmaxCase(t, Input{1, 1, 2}, 3).model
	e := must[*Examples](t)(m.NewExamples(2))
	dst := slices.Repeat([]float64{7}, 9)
	fails := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if dst[0] != 7 || dst[8] != 7 {
			t.Errorf("%s: dst was changed", want)
		}
	}
	both := func(dst []float64, i int, want string) {
		t.Helper()
		fails(e.Gradient(dst, i), want)
		fails(e.Shrunk(dst, i), want)
	}
	p, x, labels := make([]float64, 9), [][]float64{{1, 2}, {3, 4}, {5, 6}}, []int{0, 1, 2}
	good := func(n int) {
		t.Helper()
		if _, err := e.Run(p, x[:n], labels[:n]); err != nil {
			t.Fatal(err)
		}
	}
	both(dst, 0, "trainer: no examples: Run must have succeeded before")
	good(1)
	both(dst, -1, "trainer: example: got -1, rule: must be in [0, 1)")
	both(dst, 1, "trainer: example: got 1, rule: must be in [0, 1)")
	both(dst[:8], 0, "trainer: dst: got 8, rule: must have 9 elements")
	for want, run := range map[string]func() ([]float64, error){
		"trainer: x: got 3, rule: must be at most 2 examples":                                  func() ([]float64, error) { return e.Run(p, x, labels) },
		"trainer: params: got 8, rule: must have 9 elements":                                   func() ([]float64, error) { return e.Run(p[:8], x[:1], labels[:1]) },
		"trainer: labels: got 0, rule: must be at least 1, and one for each of the 0 examples": func() ([]float64, error) { return e.Run(p, nil, nil) },
		"trainer: labels: got 1, rule: must be at least 1, and one for each of the 2 examples": func() ([]float64, error) { return e.Run(p, x[:2], labels[:1]) },
		"trainer: labels[0]: got 3, rule: must be in [0, 3)":                                   func() ([]float64, error) { return e.Run(p, x[:1], []int{3}) },
		"trainer: x[1][0]: got NaN": func() ([]float64, error) {
			return e.Run(p, [][]float64{{0, 0}, {math.NaN(), 0}}, labels[:2])
		},
	} {
		good(2)
		losses, err := run()
		if fails(err, want); losses != nil {
			t.Errorf("%s: got losses", want)
		}
		// The gradients of the run before are gone.
		both(dst, 0, errNoRun.Error())
	}
	good(2)
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	both(dst, 0, errClosed.Error())
	_, err := e.Run(p, x[:1], labels[:1])
	fails(err, errClosed.Error())
}

// Goroutines that read the same run get the same bits as one alone. The race
// detector looks on.
func TestGradientsOfOneRunConcurrently(t *testing.T) {
	for _, c := range []testCase{
		softmaxCase(t, Input{1, 4, 4}, 3), mlpCase(t, Input{1, 4, 4}, 3, 8), cnnCase(t, Input{1, 12, 12}, 4, 2, 3),
	} {
		rng := testRand(1)
		x, labels := c.examples(rng, 16)
		e := must[*Examples](t)(c.model.NewExamples(16))
		defer e.Close()
		if _, err := e.Run(c.params(rng), x, labels); err != nil {
			t.Fatal(err)
		}
		gradients := func() (g [2 * 16][]float64) {
			for i := range x {
				g[i], g[16+i] = make([]float64, c.model.Dim()), make([]float64, c.model.Dim())
				if err := errors.Join(e.Gradient(g[i], i), e.Shrunk(g[16+i], i)); err != nil {
					t.Error(err)
				}
			}
			return g
		}
		var got [4][2 * 16][]float64
		var wg sync.WaitGroup
		for k := range got {
			wg.Go(func() { got[k] = gradients() })
		}
		wg.Wait()
		want := gradients()
		for k := range got {
			if !slices.EqualFunc(got[k][:], want[:], slices.Equal) {
				t.Errorf("%s: goroutine %d got other gradients", c.name, k)
			}
		}
	}
}
