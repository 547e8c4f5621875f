package trainer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// This file is a second implementation of the models, in plain loops,
// that shares nothing with the graphs but the documented layout.

func testRand(seed byte) *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{seed})) }

// testCase is a model together with its reference.
type testCase struct {
	name    string
	model   *Model
	in      Input
	classes int
	logits  func(view func(name string) []float64, x []float64) []float64
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// refuses fails the test unless err is a wrapped *fl.ParamError whose text begins with want.
func refuses(t testing.TB, err error, want string) {
	t.Helper()
	var p *fl.ParamError
	if !errors.As(err, &p) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want a ParamError %s", err, want)
	}
}

func softmaxCase(t testing.TB, in Input, classes int) testCase {
	return testCase{fmt.Sprintf("softmax/%v", in), must[*Model](t)(NewSoftmax(in, classes)), in, classes,
		func(view func(string) []float64, x []float64) []float64 {
			return affine(x, view("linear.weight"), view("linear.bias"))
		}}
}

func mlpCase(t testing.TB, in Input, classes, hidden int) testCase {
	return testCase{fmt.Sprintf("mlp/%v/%d", in, hidden), must[*Model](t)(NewMLP(in, classes, hidden)), in, classes,
		func(view func(string) []float64, x []float64) []float64 {
			return affine(rectify(affine(x, view("hidden.weight"), view("hidden.bias"))), view("output.weight"), view("output.bias"))
		}}
}

func cnnCase(t testing.TB, in Input, classes, first, second int) testCase {
	return testCase{fmt.Sprintf("cnn/%v/%d,%d", in, first, second), must[*Model](t)(NewCNN(in, classes, first, second)), in, classes,
		func(view func(string) []float64, x []float64) []float64 {
			c1, h, w := convolve(x, in.Channels, in.Height, in.Width, view("conv1.weight"), view("conv1.bias"), 5, 1)
			pooled, h, w := pool(rectify(c1), first, h, w)
			c2, _, _ := convolve(pooled, first, h, w, view("conv2.weight"), view("conv2.bias"), 3, 2)
			return affine(rectify(c2), view("output.weight"), view("output.bias"))
		}}
}

func embedderCase(t testing.TB, in Input, classes int, channels [3]int, width int) testCase {
	return testCase{fmt.Sprintf("embedder/%v/%v,%d", in, channels, width), must[*Model](t)(NewEmbedder(in, classes, channels, width)), in, classes,
		func(view func(string) []float64, x []float64) []float64 {
			y, h, w := frame(x, in.Channels, in.Height, in.Width, 2)
			y, h, w = convolve(y, in.Channels, h, w, view("conv1.weight"), view("conv1.bias"), 5, 2)
			y, h, w = convolve(rectify(y), channels[0], h, w, view("conv2.weight"), view("conv2.bias"), 3, 1)
			y, h, w = pool(rectify(y), channels[1], h, w)
			y, _, _ = convolve(y, channels[1], h, w, view("conv3.weight"), view("conv3.bias"), 3, 1)
			y = affine(rectify(y), view("embed.weight"), view("embed.bias"))
			return affine(y, view("output.weight"), view("output.bias"))
		}}
}

// frame puts pad zeros around each channel.
func frame(x []float64, channels, height, width, pad int) (y []float64, h, w int) {
	h, w = height+2*pad, width+2*pad
	y = make([]float64, channels*h*w)
	for c := range channels {
		for r := range height {
			copy(y[(c*h+r+pad)*w+pad:], x[(c*height+r)*width:][:width])
		}
	}
	return y, h, w
}

// affine returns xW + b with W of shape (len(x), len(b)).
func affine(x, w, b []float64) []float64 {
	y := make([]float64, len(b))
	for j := range y {
		y[j] = b[j]
		for i := range x {
			y[j] += x[i] * w[i*len(b)+j]
		}
	}
	return y
}

func rectify(x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = max(0, x[i])
	}
	return y
}

// convolve applies a kernel of shape (channels, side, side, len(b)).
func convolve(x []float64, channels, height, width int, k, b []float64, side, stride int) (y []float64, h, w int) {
	h, w = (height-side)/stride+1, (width-side)/stride+1
	for o := range b {
		for r := range h {
			for s := range w {
				sum := b[o]
				for c := range channels {
					for i := range side {
						for j := range side {
							sum += x[(c*height+r*stride+i)*width+s*stride+j] * k[((c*side+i)*side+j)*len(b)+o]
						}
					}
				}
				y = append(y, sum)
			}
		}
	}
	return y, h, w
}

func pool(x []float64, channels, height, width int) (y []float64, h, w int) {
	h, w = height/2, width/2
	for c := range channels {
		for r := range h {
			for s := range w {
				at := func(i, j int) float64 { return x[(c*height+2*r+i)*width+2*s+j] }
				y = append(y, max(at(0, 0), at(0, 1), at(1, 0), at(1, 1)))
			}
		}
	}
	return y, h, w
}

// loss returns the mean cross-entropy.
func (c testCase) loss(params []float64, x [][]float64, labels []int) float64 {
	view := func(name string) []float64 {
		for _, p := range c.model.Layout() {
			if p.Name == name {
				return params[p.Offset : p.Offset+p.Size()]
			}
		}
		panic(name)
	}
	sum := 0.0
	for i := range x {
		z := c.logits(view, x[i])
		top, s := z[0], 0.0
		for _, e := range z {
			top = max(top, e)
		}
		for _, e := range z {
			s += math.Exp(e - top)
		}
		sum += top + math.Log(s) - z[labels[i]]
	}
	return sum / float64(len(x))
}

// examples draws n standard normal examples with uniform labels.
func (c testCase) examples(rng *rand.Rand, n int) (x [][]float64, labels []int) {
	for range n {
		e := make([]float64, c.in.Size())
		for i := range e {
			e[i] = rng.NormFloat64()
		}
		x, labels = append(x, e), append(labels, rng.IntN(c.classes))
	}
	return x, labels
}

// params draws a start vector with non-zero biases.
func (c testCase) params(rng *rand.Rand) []float64 {
	p := c.model.Init(rng)
	for i := range p {
		p[i] += 0.1 * rng.NormFloat64()
	}
	return p
}

// along returns the central difference of the loss at p in direction v.
func (c testCase) along(p, v []float64, h float64, x [][]float64, labels []int) float64 {
	at := func(s float64) float64 {
		q := make([]float64, len(p))
		for i := range q {
			q[i] = p[i] + s*v[i]
		}
		return c.loss(q, x, labels)
	}
	return (at(h) - at(-h)) / (2 * h)
}
