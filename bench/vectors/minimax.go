package vectors

import (
	"context"
	"fmt"
	"math"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/sparse"
)

// MinimaxSquare is the paper's lower bound on the mean squared error of means, summed over the coordinates, that
// any mechanism of local ε has for the worst clients: min{s²/(4d), ds/(64n(e^ε−1)²)}.
func MinimaxSquare(dim, sparsity, clients int, epsilon float64) float64 {
	d, s, n := float64(dim), float64(sparsity), float64(clients)
	return min(s*s/(4*d), d*s/(64*n*math.Pow(math.Expm1(epsilon), 2)))
}

// MinimaxVariation is MinimaxSquare for the expected sum of absolute errors: min{s/2, d·√s/(8(e^ε−1)√n)}.
func MinimaxVariation(dim, sparsity, clients int, epsilon float64) float64 {
	d, s, n := float64(dim), float64(sparsity), float64(clients)
	return min(s/2, d*math.Sqrt(s)/(8*math.Expm1(epsilon)*math.Sqrt(n)))
}

// minimax draws the bounds beside what the mechanisms have.
func minimax() experiment.Experiment {
	return experiment.Experiment{
		Name:    "minimax",
		Title:   "Least errors of means of sparse vectors that any mechanism can have, and ours",
		Source:  paper + ", the lower bounds",
		Without: append([]string{experiment.FlagQuick}, exact...),
		Bind: func(f *flag.FlagSet) experiment.Run {
			p := bindPoint(f)
			clients := f.Int("clients", 100_000, "clients, n, with one report each")
			f.Lookup("epsilon").Usage = "largest local ε; the curves begin at a fiftieth of it"
			return func(context.Context, experiment.Env) (*experiment.Result, error) {
				at, err := p()
				if err == nil && (*clients < 1 || *clients > fl.MaxReports) {
					err = fl.Invalid("--clients", *clients, "must be in [1, %d]", fl.MaxReports)
				}
				if err != nil {
					return nil, err
				}
				return runMinimax(at, *clients)
			}
		},
	}
}

const minimaxPoints = 10

func runMinimax(p sparse.Point, clients int) (*experiment.Result, error) {
	r := &experiment.Result{
		Columns: []string{"error", "epsilon", "curve", "value"},
		Notes: []string{
			fmt.Sprintf("d = %d, s = %d, n = %d. The bounds hold for the worst clients, and for every mechanism of that local ε with one report a client.", p.Dim, p.Sparsity, clients),
			"Collision and CoCo have their exact mean squared errors, with the best number of slots and ideal hash functions. Neither paper nor we have an exact sum of absolute errors.",
		},
		Plot: &figure.Figure{Columns: 2},
	}
	largest := p.Epsilon
	square := figure.Panel{Title: "squared error, all coordinates", XLabel: "local ε of one report", YLabel: "mean squared error, summed", LogX: true, LogY: true}
	variation := figure.Panel{Title: "absolute error, all coordinates", XLabel: "local ε of one report", YLabel: "expected sum of absolute errors", LogX: true, LogY: true}
	bounds := [2]figure.Series{{Name: "lower bound", Style: figure.Dashed}, {Name: "lower bound", Style: figure.Dashed}}
	ours := []figure.Series{{Name: collision.Name, Style: figure.LinePoints}, {Name: coco.Name, Style: figure.LinePoints}}
	for i := range minimaxPoints {
		p.Epsilon = largest * math.Pow(50, float64(i)/(minimaxPoints-1)-1)
		add := func(s *figure.Series, what, curve string, value float64) {
			s.X, s.Y = append(s.X, p.Epsilon), append(s.Y, value)
			r.Rows = append(r.Rows, experiment.Row{what, p.Epsilon, curve, value})
		}
		add(&bounds[0], "squared", bounds[0].Name, MinimaxSquare(p.Dim, p.Sparsity, clients, p.Epsilon))
		add(&bounds[1], "absolute", bounds[1].Name, MinimaxVariation(p.Dim, p.Sparsity, clients, p.Epsilon))
		for k, scheme := range []*sparse.Scheme{collision.Scheme, coco.Scheme} {
			var err error
			if p.Slots, err = scheme.BestSlots(p); err != nil {
				return nil, err
			}
			mse, err := scheme.MSE(p)
			if err != nil {
				return nil, err
			}
			add(&ours[k], "squared", ours[k].Name, mse/float64(clients))
		}
	}
	square.Series, variation.Series = append([]figure.Series{bounds[0]}, ours...), []figure.Series{bounds[1]}
	r.Plot.Panels = []figure.Panel{square, variation}
	return r, nil
}
