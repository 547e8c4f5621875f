package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/internal/history"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// task is what is learnt about the target: logistic regression for two values, softmax regression
// for more, linear regression for a number.
type task struct {
	name    string
	dim     int
	measure history.Measure
	// gradients returns the gradients of the clients who hold the rows, one each.
	gradients func(r rows, rng *rand.Rand) (trainer.Gradients, error)
	// evaluate returns the score and the mean loss over rows.
	evaluate func(params []float64, r rows) (score, loss float64, err error)
	// curvature is the largest second derivative of the loss by a prediction.
	curvature float64
	// norm is a guess of the norm of the best model of scaled columns.
	norm float64
	// loss is a guess of how much larger the loss of a model of zeros is than the least: a quarter of a number's variance, which is half of its squared loss, and all of the loss of equal chances.
	loss float64
	// coefficients returns the coefficients of class or number k, one per value of a row and then the bias.
	coefficients func(params []float64, k int) []float64
	classes      []string // that have coefficients
}

// oddsNorm is the norm of a model of classes whose logarithms of odds are about 3 apart: it is right 95 times in 100.
const oddsNorm = 3

func newTask(s schema) (task, error) {
	switch n := len(s.target.values); {
	case n == 0:
		t := linear(s, trainer.Squared)
		t.name, t.measure, t.curvature, t.norm, t.loss, t.classes = "linear regression", history.RSquared, 1, 1, 0.25, []string{s.target.name}
		return t, nil
	case n == 2:
		t := linear(s, trainer.Logistic)
		t.name, t.measure, t.curvature, t.norm, t.loss, t.classes = "logistic regression", history.Accuracy, 0.25, oddsNorm, math.Ln2, s.target.values[1:]
		return t, nil
	default:
		return softmax(s)
	}
}

// linear is a task of a linear model.
func linear(s schema, loss trainer.Loss) task {
	one := rand.New(rand.NewPCG(1, 1)) // one client holds all rows, whatever the order
	return task{
		dim: s.features() + 1,
		gradients: func(r rows, rng *rand.Rand) (trainer.Gradients, error) {
			return trainer.NewLinear(r.x, r.y, len(r.y), loss, rng)
		},
		evaluate: func(params []float64, r rows) (score, mean float64, err error) {
			l, err := trainer.NewLinear(r.x, r.y, 1, loss, one)
			if err != nil {
				return 0, 0, err
			}
			predictions := make([]float64, len(r.y))
			for i, row := range r.x {
				predictions[i] = l.Predict(params, row)
			}
			return scored(s, predictions, r.y), l.Loss(params, r.x, r.y), nil
		},
		coefficients: func(params []float64, _ int) []float64 { return params },
	}
}

// scored is the share of right classes, or the coefficient of determination of numbers.
func scored(s schema, predictions, y []float64) float64 {
	if s.target.values == nil {
		return stat.RSquaredFrom(predictions, y, nil)
	}
	right := 0.
	for i, z := range predictions {
		if (z > 0) == (y[i] == 1) {
			right++
		}
	}
	return right / float64(len(y))
}

// softmax is a task with three classes or more, whose gradients come from a graph.
func softmax(s schema) (task, error) {
	model, err := trainer.NewSoftmax(trainer.Input{Channels: 1, Height: 1, Width: s.features()}, len(s.target.values))
	if err != nil {
		return task{}, err
	}
	classes := len(s.target.values)
	return task{
		name: "softmax regression", curvature: 0.5, norm: oddsNorm, loss: math.Log(float64(classes)), dim: model.Dim(), measure: history.Accuracy, classes: s.target.values,
		gradients: func(r rows, rng *rand.Rand) (trainer.Gradients, error) {
			clients, err := trainer.NewClients(r.x, labels(r.y), len(r.y), rng)
			if err != nil {
				return nil, err
			}
			return clients.On(model, true)
		},
		evaluate: func(params []float64, r rows) (score, loss float64, err error) {
			e, err := model.NewEvaluator(min(500, len(r.y)))
			if err != nil {
				return 0, 0, err
			}
			defer func() { err = errors.Join(err, e.Close()) }()
			return e.Evaluate(params, r.x, labels(r.y))
		},
		coefficients: func(params []float64, k int) []float64 {
			var of []float64
			for i := k; i < len(params); i += classes {
				of = append(of, params[i])
			}
			return of
		},
	}, nil
}

// commonest is the share of the commonest class, or nil for numbers.
func (s schema) commonest(y []float64) *float64 {
	if s.target.values == nil {
		return nil
	}
	rows := make([]int, len(s.target.values))
	for _, class := range labels(y) {
		rows[class]++
	}
	share := float64(slices.Max(rows)) / float64(len(y))
	return &share
}

func labels(y []float64) []int {
	out := make([]int, len(y))
	for i, v := range y {
		out[i] = int(v)
	}
	return out
}

// sample returns the gradients of the first model, which is zero.
func sample(ctx context.Context, g trainer.Gradients) (*plan.Sample, error) {
	var all [][]float64
	if err := g.Each(ctx, make([]float64, g.Dim()), 0, g.Len(), func(_ int, grad []float64) error {
		all = append(all, slices.Clone(grad))
		return nil
	}); err != nil {
		return nil, err
	}
	return plan.NewSample(all)
}
