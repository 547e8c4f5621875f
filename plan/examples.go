package plan

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Examples are public examples of a classification task: what Predict rehearses softmax regression on. They are immutable.
type Examples struct {
	x       [][]float64
	labels  []int
	classes int
	held    int // the last ones, which measure
	name    string
}

// Named returns the same examples with what Expected calls them, as in "accuracy on generated pictures". Without it they are public examples.
func (e *Examples) Named(name string) *Examples {
	out := *e
	out.name = name
	return &out
}

// NewExamples takes vectors of one length, and labels in [0, classes), in random order. They are kept and not
// copied. The last fifth measures, and the others are what simulated clients hold. The error names what is wrong.
func NewExamples(x [][]float64, labels []int, classes int) (*Examples, error) {
	bad := func(name string, got any, rule string, args ...any) error {
		return fmt.Errorf("plan: %w", fl.Invalid(name, got, rule, args...))
	}
	switch {
	case len(x) < leastExamples:
		return nil, bad("examples", len(x), "must be at least %d", leastExamples)
	case len(labels) != len(x):
		return nil, bad("labels", len(labels), "must be one for each of %d examples", len(x))
	case classes < 2:
		return nil, bad("classes", classes, "must be at least 2")
	}
	for i, row := range x {
		if len(row) != len(x[0]) || len(row) == 0 {
			return nil, bad("examples", len(row), "must all have one number of features, above 0: example %d has another than the first", i)
		}
		if sum := floats.Norm(row, 1); math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil, bad("examples", sum, "must be finite: example %d is not", i)
		}
		if labels[i] < 0 || labels[i] >= classes {
			return nil, bad("labels", labels[i], "must be in [0, classes = %d): example %d's is not", classes, i)
		}
	}
	return &Examples{x: x, labels: labels, classes: classes, held: len(x) / 5}, nil
}

// leastExamples are as many as measure an accuracy within some percent.
const leastExamples = 100

// Dim is the number of parameters of softmax regression on the examples: a row of weights for each feature, and the biases.
func (e *Examples) Dim() int { return (len(e.x[0]) + 1) * e.classes }

// Sample returns the gradients at a model of zeros of those examples that do not measure.
func (e *Examples) Sample() (*Sample, error) {
	zeros, p := make([]float64, e.Dim()), make([]float64, e.classes)
	rows := make([][]float64, min(len(e.x)-e.held, SampleSize(e.Dim())))
	for i := range rows {
		rows[i] = make([]float64, 0, e.Dim())
		e.derivatives(p, zeros, i, true)
		for _, v := range e.x[i] {
			for _, d := range p {
				rows[i] = append(rows[i], v*d)
			}
		}
		rows[i] = append(rows[i], p...)
	}
	return NewSample(rows)
}

// test returns the indices of the examples that measure.
func (e *Examples) test() []int {
	out := make([]int, e.held)
	for i := range out {
		out[i] = len(e.x) - e.held + i
	}
	return out
}

// byClass returns a model in another order: for each class the weights of all features, and then the bias.
func (e *Examples) byClass(params []float64) []float64 {
	k, rows := e.classes, len(e.x[0])+1
	out := make([]float64, len(params))
	for i, v := range params {
		out[i%k*rows+i/k] = v
	}
	return out
}

// logits writes the logarithms of class probabilities, up to a constant. The model is by class.
func (e *Examples) logits(dst, model []float64, i int) {
	x := e.x[i]
	for c := range dst {
		weights := model[c*(len(x)+1):][:len(x)+1]
		dst[c] = floats.Dot(weights[:len(x)], x) + weights[len(x)]
	}
}

// derivatives writes the derivatives of the loss of example i in the logits. Where they are shrunk, the same number is subtracted
// from all so that the L1 norm is the smallest: the model is the same.
func (e *Examples) derivatives(p, model []float64, i int, shrunk bool) {
	e.logits(p, model, i)
	all := floats.LogSumExp(p)
	for c := range p {
		p[c] = math.Exp(p[c] - all)
	}
	p[e.labels[i]]--
	if shrunk {
		subtractMedian(p, make([]float64, len(p)))
	}
}

// addGradient adds the gradient whose derivatives at example i are p, by class.
func (e *Examples) addGradient(dst, p []float64, i int) {
	x := e.x[i]
	for c, d := range p {
		weights := dst[c*(len(x)+1):][:len(x)+1]
		floats.AddScaled(weights[:len(x)], d, x)
		weights[len(x)] += d
	}
}

// sizes are the absolute values and the squares of an example's features and of the bias's feature, which is 1, with the largest and the sum of
// the absolute values.
type sizes struct {
	absolute, squares []float64
	largest, sum      float64
}

func (e *Examples) sizes() []sizes {
	out := make([]sizes, len(e.x))
	for i, x := range e.x {
		s := sizes{absolute: make([]float64, len(x)+1), squares: make([]float64, len(x)+1)}
		for j, v := range x {
			s.absolute[j], s.squares[j] = math.Abs(v), v*v
		}
		s.absolute[len(x)], s.squares[len(x)] = 1, 1
		s.largest, s.sum = floats.Max(s.absolute), floats.Sum(s.absolute)
		out[i] = s
	}
	return out
}

// addClipped adds the gradient whose derivatives at example i are p, by class and as a clip of the L1 norm leaves it, its absolute values and its squares. It is
// what addGradient and clipping.apply make of the gradient, without writing it out: mostly no coordinate of a class is cut.
func (e *Examples) addClipped(mean, absolute, squares, p []float64, i int, c clipping, of sizes) {
	length := 0.
	for _, d := range p {
		if d = math.Abs(d); d*of.largest <= c.top {
			length += d * of.sum
			continue
		}
		for _, a := range of.absolute {
			length += min(d*a, c.top)
		}
	}
	f := c.factor(length)
	x, rows := e.x[i], len(of.absolute)
	for k, d := range p {
		m, a, s := mean[k*rows:][:rows], absolute[k*rows:][:rows], squares[k*rows:][:rows]
		if size := math.Abs(d); size*of.largest > c.top {
			for j, v := range of.absolute {
				v = f * min(size*v, c.top)
				a[j] += v
				s[j] += v * v
				if j < len(x) && x[j] < 0 != (d < 0) || j == len(x) && d < 0 {
					v = -v
				}
				m[j] += v
			}
			continue
		}
		floats.AddScaled(m[:len(x)], f*d, x)
		m[len(x)] += f * d
		floats.AddScaled(a, f*math.Abs(d), of.absolute)
		floats.AddScaled(s, f*d*f*d, of.squares)
	}
}

// norms are the norms of the examples' features, with the bias's feature, which is 1. A gradient's norm is this one times the norm of its derivatives. Without
// an order there are none.
func (e *Examples) norms(order float64) []float64 {
	if order == 0 {
		return nil
	}
	out := make([]float64, len(e.x))
	for i, x := range e.x {
		out[i] = math.Pow(math.Pow(floats.Norm(x, order), order)+1, 1/order)
	}
	return out
}

// shrink subtracts from the weights of each feature their median over the classes.
func (e *Examples) shrink(grad []float64) {
	sorted, row, rows := make([]float64, e.classes), make([]float64, e.classes), len(e.x[0])+1
	for j := range rows {
		for c := range row {
			row[c] = grad[c*rows+j]
		}
		subtractMedian(row, sorted)
		for c, v := range row {
			grad[c*rows+j] = v
		}
	}
}

func subtractMedian(row, sorted []float64) {
	copy(sorted, row)
	slices.Sort(sorted)
	floats.AddConst(-sorted[len(row)/2], row)
}

// accuracy is the share of the examples with these indices whose class has the largest probability. The model is by class.
func (e *Examples) accuracy(model []float64, at []int) float64 {
	right, p := 0, make([]float64, e.classes)
	for _, i := range at {
		if e.logits(p, model, i); floats.MaxIdx(p) == e.labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(at))
}
