package trainer

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
)

// someRows are n rows of three columns with targets 0 and 1.
func someRows(rng *rand.Rand, n int) (x [][]float64, y []float64) {
	for range n {
		x = append(x, []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		y = append(y, float64(rng.IntN(2)))
	}
	return x, y
}

// A client's gradient is the derivative of the mean loss of its own rows.
func TestTheGradientOfALinearModelIsThatOfItsLoss(t *testing.T) {
	x, y := someRows(testRand(1), 12)
	params := []float64{0.3, -1.2, 0.7, 0.4}
	for name, loss := range map[string]Loss{"squared": Squared, "logistic": Logistic} {
		l := must[*Linear](t)(NewLinear(x, y, 4, loss, testRand(2)))
		seen := 0
		if err := l.Each(t.Context(), params, 2, 6, func(turn int, grad []float64) error {
			rows := l.shares.of(turn)
			want := fd.Gradient(nil, func(p []float64) float64 {
				sum := 0.
				for _, i := range rows {
					sum += l.Loss(p, x[i:i+1], y[i:i+1]) / float64(len(rows))
				}
				return sum
			}, params, &fd.Settings{Formula: fd.Central})
			if len(rows) != 3 || !floats.EqualApprox(grad, want, 1e-7) {
				t.Errorf("%s: client %d with rows %v: %g, want %g", name, turn, rows, grad, want)
			}
			seen++
			return nil
		}); err != nil || seen != 4 {
			t.Errorf("%s: %d clients, %v", name, seen, err)
		}
	}
}

// Logistic regression is softmax regression with two classes, whose weights of class 0 are zero.
func TestLogisticRegressionIsSoftmaxWithTwoClasses(t *testing.T) {
	x, y := someRows(testRand(3), 20)
	labels := make([]int, len(y))
	for i, v := range y {
		labels[i] = int(v)
	}
	params, both := []float64{0.3, -1.2, 0.7, 0.4}, make([]float64, 8)
	for i, p := range params {
		both[2*i+1] = p
	}
	model := must[*Model](t)(NewSoftmax(Input{1, 1, 3}, 2))
	graph := must[Gradients](t)(must[*Clients](t)(NewClients(x, labels, 20, testRand(4))).On(model, false))
	defer graph.Close()
	var want []float64
	if err := graph.Each(t.Context(), both, 0, 20, func(_ int, grad []float64) error {
		for i := range params {
			want = append(want, grad[2*i+1])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var got []float64
	l := must[*Linear](t)(NewLinear(x, y, 20, Logistic, testRand(4)))
	if err := errors.Join(l.Each(t.Context(), params, 0, 20, func(_ int, grad []float64) error {
		got = append(got, grad...)
		return nil
	}), l.Close()); err != nil || !floats.EqualApprox(got, want, 1e-12) {
		t.Errorf("%v: gradients %g, want %g", err, got, want)
	}
}

func TestLossesStayFinite(t *testing.T) {
	for _, z := range []float64{-1e50, -800, 0, 800, 1e50} {
		for _, y := range []float64{0, 1} {
			loss, derivative := Logistic(z, y)
			if !(loss >= 0) || math.IsInf(loss, 0) || !(math.Abs(derivative) <= 1) {
				t.Errorf("z = %g, y = %g: loss %g, derivative %g", z, y, loss, derivative)
			}
		}
	}
	if loss, derivative := Logistic(0, 1); loss != math.Ln2 || derivative != -0.5 {
		t.Errorf("loss %g and derivative %g at 0, want log 2 and −1/2", loss, derivative)
	}
}

func TestLinearErrors(t *testing.T) {
	x, y := someRows(testRand(1), 4)
	nan := [][]float64{x[0], x[1], {1, math.NaN(), 1}, x[3]}
	for want, err := range map[string]error{
		"trainer: targets: got 3, rule: must have 4 elements": second(NewLinear(x, y[:3], 2, Squared, testRand(1))),
		"trainer: clients: got 5":                             second(NewLinear(x, y, 5, Squared, testRand(1))),
		"trainer: clients: got 1, rule: must be in [1, 0]":    second(NewLinear(nil, nil, 1, Squared, testRand(1))),
		"trainer: x[0]: got 0, rule: must have at least 1":    second(NewLinear(make([][]float64, 4), y, 2, Squared, testRand(1))),
		"trainer: x[2][1]: got NaN":                           second(NewLinear(nan, y, 2, Squared, testRand(1))),
		"trainer: loss: got <nil>":                            second(NewLinear(x, y, 2, nil, testRand(1))),
	} {
		refuses(t, err, want)
	}
	l := must[*Linear](t)(NewLinear(x, y, 4, Squared, testRand(1)))
	refuses(t, l.Each(t.Context(), make([]float64, 3), 0, 4, nil), "trainer: params: got 3")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Each(ctx, make([]float64, 4), 0, 4, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	stop := errors.New("no battery")
	if err := l.Each(t.Context(), make([]float64, 4), 5, 8, func(int, []float64) error { return stop }); !errors.Is(err, stop) || err.Error() != "client 1: no battery" {
		t.Errorf("got %v, want the error of client 1", err)
	}
}

func second(_ *Linear, err error) error { return err }
