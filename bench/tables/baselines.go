package tables

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/central"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// moments are the mean and the standard deviation of each column, and of a number to predict.
func (t *table) moments() (centre, spread []float64) {
	column := make([]float64, len(t.x))
	for j := range columns {
		for i, row := range t.x {
			column[i] = row[j]
		}
		m, s := stat.MeanStdDev(column, nil)
		centre, spread = append(centre, m), append(spread, s)
	}
	m, s := 0., 1.
	if !t.classes {
		m, s = stat.MeanStdDev(t.y, nil)
	}
	return append(centre, m), append(spread, s)
}

// standard returns rows that are centred and scaled, with a 1 for the bias.
func (t *table) standard(centre, spread []float64) *table {
	out := &table{classes: t.classes}
	for i, row := range t.x {
		z := make([]float64, columns+1)
		for j, v := range row {
			z[j] = (v - centre[j]) / spread[j]
		}
		z[columns] = 1
		out.x, out.y = append(out.x, z), append(out.y, (t.y[i]-centre[columns])/spread[columns])
	}
	return out
}

// cut limits numbers to three spreads, as examples/tabular does.
func (t *table) cut() *table {
	for _, row := range t.x {
		for j, v := range row {
			row[j] = min(max(v, -3), 3)
		}
	}
	return t
}

func (t *table) loss() trainer.Loss {
	if t.classes {
		return trainer.Logistic
	}
	return trainer.Squared
}

// score is the share of right classes, or R².
func (t *table) score(w []float64) float64 {
	predictions, right := make([]float64, len(t.y)), 0.
	for i, row := range t.x {
		predictions[i] = floats.Dot(w, row)
		if (predictions[i] > 0) == (t.y[i] == 1) {
			right++
		}
	}
	if t.classes {
		return right / float64(len(t.y))
	}
	return stat.RSquaredFrom(predictions, t.y, nil)
}

// optimum is the model of least loss, by Newton's method, with the penalty ‖w‖²/2 on the sum of losses but none on the bias.
func (t *table) optimum() ([]float64, error) {
	w := make([]float64, columns+1)
	for range 30 {
		gradient, hessian := mat.NewVecDense(columns+1, nil), mat.NewSymDense(columns+1, nil)
		for j := range columns {
			gradient.SetVec(j, w[j])
			hessian.SetSym(j, j, 1)
		}
		for i, row := range t.x {
			z := floats.Dot(w, row)
			_, slope := t.loss()(z, t.y[i])
			second := 1.
			if t.classes {
				p := 1 / (1 + math.Exp(-z))
				second = p * (1 - p)
			}
			x := mat.NewVecDense(columns+1, row)
			gradient.AddScaledVec(gradient, slope, x)
			hessian.SymRankOne(hessian, second, x)
		}
		var factors mat.Cholesky
		factors.Factorize(hessian)
		var step mat.VecDense
		if err := factors.SolveVecTo(&step, gradient); err != nil {
			return nil, err
		}
		floats.Sub(w, step.RawVector().Data)
		if floats.Norm(step.RawVector().Data, 2) < 1e-10 {
			break
		}
	}
	return w, nil
}

// clipShare is the clip of a trusted server's gradients over their mean norm at the first model.
const clipShare = 0.4

// descend is gradient descent by a trusted server that adds Gaussian noise to each sum of clipped gradients.
func (t *table) descend(rounds int, rng *rand.Rand) ([]float64, error) {
	dim := columns + 1
	clip := 0.
	at := func(w []float64, i int) []float64 {
		_, slope := t.loss()(floats.Dot(w, t.x[i]), t.y[i])
		g := make([]float64, dim)
		floats.AddScaled(g, slope, t.x[i])
		return g
	}
	smooth, size := plan.Smooth{Curvature: float64(dim), Norm: 1, Loss: 0.25}, 1.
	slope := math.Erf(clipShare / math.Sqrt2) // of normal errors: the share that is not clipped
	if t.classes {
		smooth, size, slope = plan.Smooth{Curvature: float64(dim) / 4, Norm: 3, Loss: math.Ln2}, 0.5, clipShare // all errors are one half at the first model
	}
	clip = clipShare * size * math.Sqrt(float64(dim)) // of public numbers with mean squares of 1
	server, err := central.New(epsilon, delta, rounds, clip)
	if err != nil {
		return nil, err
	}
	noise := server.Multiplier * clip / float64(len(t.y)) * math.Sqrt(float64(dim)/float64(rounds))
	steps := smooth.Steps(noise, slope, rounds)
	return trainer.Run(context.Background(), meanOf(func(w []float64) ([]float64, error) {
		sum := make([]float64, dim)
		for i := range t.y {
			g := at(w, i)
			floats.AddScaled(sum, min(1, clip/floats.Norm(g, 2)), g)
		}
		mean, err := server.Release(sum, len(t.y), rng)
		return mean.Value, err
	}), make([]float64, dim), trainer.RunConfig{Rounds: rounds, Steps: trainer.Momentum(steps.LearningRate, steps.Momentum, steps.Averaging)})
}

// meanOf are rounds of a server that sees all gradients.
type meanOf func(params []float64) ([]float64, error)

// Mean implements trainer.Rounds.
func (m meanOf) Mean(_ context.Context, _ int, params []float64) (*fl.Estimate, error) {
	mean, err := m(params)
	return fl.NewEstimate(fl.Round{}, fl.Guarantee{}, clients, fl.Series{Value: mean}), err
}
