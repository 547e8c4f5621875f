package trainer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Loss is what a linear model pays for a prediction z of the target y, and its derivative by z.
// [Squared] and [Logistic] are losses; any function of this form is one.
type Loss func(z, y float64) (loss, derivative float64)

// Squared is (z−y)²/2: linear regression.
func Squared(z, y float64) (loss, derivative float64) { return (z - y) * (z - y) / 2, z - y }

// Logistic is log(1 + e^−z) for the target 1 and log(1 + e^z) for the target 0: logistic
// regression. z is the logarithm of the odds of 1.
func Logistic(z, y float64) (loss, derivative float64) {
	return math.Max(z, 0) - y*z + math.Log1p(math.Exp(-math.Abs(z))), 1/(1+math.Exp(-z)) - y
}

// Linear is a linear model w·x + b of clients' rows, with any loss. Its parameters are w, one for
// each column, and then b. Their gradients have a closed form, so it needs no graph. It
// implements [Gradients].
type Linear struct {
	x      [][]float64
	y      []float64
	loss   Loss
	shares shares
	grad   []float64
}

// NewLinear deals rows x with targets y out to n clients, as [NewClients] does. All rows have
// the same length, at least 1. All numbers are finite and at most 1e40 in magnitude. The rows are
// not copied.
func NewLinear(x [][]float64, y []float64, n int, loss Loss, rng *rand.Rand) (*Linear, error) {
	if err := checkVector("targets", y, len(x)); err != nil {
		return nil, err
	}
	s, err := deal(len(x), n, rng)
	if err != nil {
		return nil, err
	}
	if len(x[0]) == 0 {
		return nil, invalid("x[0]", 0, "must have at least 1 column")
	}
	for i, row := range x {
		if err := checkVector(fmt.Sprintf("x[%d]", i), row, len(x[0])); err != nil {
			return nil, err
		}
	}
	if loss == nil {
		return nil, invalid("loss", nil, "must be given")
	}
	return &Linear{x: x, y: y, loss: loss, shares: s, grad: make([]float64, len(x[0])+1)}, nil
}

// Len implements Gradients.
func (l *Linear) Len() int { return l.shares.clients }

// Dim implements Gradients: one more than there are columns.
func (l *Linear) Dim() int { return len(l.grad) }

// Each implements Gradients. O(columns) per row.
func (l *Linear) Each(ctx context.Context, params []float64, first, last int, visit func(turn int, grad []float64) error) error {
	if err := checkVector("params", params, l.Dim()); err != nil {
		return err
	}
	for turn := first; turn < last; turn++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		clear(l.grad)
		for _, i := range l.shares.of(turn) {
			_, derivative := l.loss(l.Predict(params, l.x[i]), l.y[i])
			derivative /= float64(l.shares.each)
			floats.AddScaled(l.grad[:l.Dim()-1], derivative, l.x[i])
			l.grad[l.Dim()-1] += derivative
		}
		if err := visit(turn, l.grad); err != nil {
			return fmt.Errorf("client %d: %w", turn%l.Len(), err)
		}
	}
	return nil
}

// Predict returns the prediction of a row by parameters of length Dim.
func (l *Linear) Predict(params, row []float64) float64 {
	return floats.Dot(params[:len(row)], row) + params[len(row)]
}

// Loss returns the mean loss over rows x with targets y. It needs at least one row.
func (l *Linear) Loss(params []float64, x [][]float64, y []float64) float64 {
	sum := 0.
	for i, row := range x {
		loss, _ := l.loss(l.Predict(params, row), y[i])
		sum += loss
	}
	return sum / float64(len(x))
}

// Close implements Gradients. There is nothing to free.
func (l *Linear) Close() error { return nil }
