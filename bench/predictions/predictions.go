// Package predictions says how noisy training is for any number of clients, before any of them
// takes part. Use it to see how many clients a task needs. Start with go run ./bench predictions.
//
// The noise is the planner's. Where a machine can hold the clients, the real encoder and decoder
// measure it as well: every client has a generated digit and sends a report of its gradient at
// the first model, as the demo trains.
package predictions

import (
	"context"
	"fmt"
	"math"
	"slices"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:    "predictions",
		Title:   "Planned noise of a training run for 1000 to 10 000 000 clients, and measured up to 60 000",
		Source:  "Our own planner; no paper",
		Without: []string{experiment.FlagData},
		Bind: func(*flag.FlagSet) experiment.Run {
			return run
		},
	}}
}

// budgets are the central ε of a run.
var budgets = []float64{0.1, 0.25, 1}

const (
	delta  = 1e-6
	rounds = 30
)

// sizes returns all numbers of clients, and the numbers that are measured.
func sizes(quick bool) (all, measured []int) {
	if quick {
		return []int{1000, 6000}, []int{1000}
	}
	return []int{1000, 6000, 20_000, 60_000, 100_000, 1_000_000, 10_000_000}, []int{6000, 20_000, 60_000}
}

// prediction is what is planned for a number of clients and a budget.
type prediction struct {
	clients int
	budget  float64
	run     *plan.Run
	// measured are noises of one round each; empty where nothing was measured. entries is how many of
	// a report the clients fill, and exact the noise for that number.
	measured       []float64
	entries, exact float64
}

func run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	all, measured := sizes(env.Quick)
	repeats := env.RepeatsOr(3)
	env.Progress.Describe("predictions")
	env.Progress.Grow(len(all)*len(budgets) + len(measured)*len(budgets)*repeats)
	var out []*prediction
	for _, budget := range budgets {
		for _, n := range all {
			out = append(out, &prediction{clients: n, budget: budget})
		}
	}
	edges, err := publicEdges(ctx)
	if err != nil {
		return nil, err
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for _, p := range out {
		group.Go(func() (err error) {
			defer env.Progress.Step()
			p.run, err = edges.of(plan.Request{
				Mechanism: mechanisms.Auto, Trust: plan.Shuffler, Clients: p.clients, Rounds: rounds, Budget: p.budget, Delta: delta,
			}).Run(inner)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := measure(ctx, env, out, measured, repeats); err != nil {
		return nil, err
	}
	return report(edges, out, repeats), nil
}

// task is softmax regression on oriented edges, as a plan knows it by two norms.
type task struct {
	dim    int
	l1, l2 float64
}

func publicEdges(ctx context.Context) (task, error) {
	edges, err := dataset.OpenFeatures(ctx, dataset.Edges, nil)
	if err != nil {
		return task{}, err
	}
	public, err := dataset.NewPublic(ctx, dataset.Digits, 10, edges, dataset.ToPlan, nil)
	if err != nil {
		return task{}, err
	}
	l1, l2 := public.Sample.Norms()
	return task{public.Examples.Dim(), l1, l2}, nil
}

func (t task) of(q plan.Request) plan.Request {
	q.Dim, q.L1, q.L2 = t.dim, t.l1, t.l2
	return q
}

// noise returns the measured noise of a round.
func (p *prediction) noise() experiment.Interval { return experiment.MeanInterval(p.measured) }

// tolerance is how far the measured noise may be off. With 1970 coordinates the mean of three
// repeats is off by a standard deviation of 0.9 %.
const tolerance = 0.05

func report(edges task, all []*prediction, repeats int) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{
			"clients", "budget", "epsilon_central", "mechanism", "slots", "epsilon_local", "epsilon_local_total",
			"planned_noise", "noise_of_run", "entries", "noise_for_entries", "measured_noise", "low", "high", "repeats",
		},
		Notes: []string{
			fmt.Sprintf("The gradients come from softmax regression on oriented edges, d = %d; %d rounds, δ = %g.", edges.dim, rounds, delta),
			"planned_noise and measured_noise are root mean squares over the coordinates of one round's mean, in units of the gradient. " +
				"noise_of_run is the planned one of the mean of all rounds. " +
				"Plans are for clients that fill every entry of a report. noise_for_entries is the exact noise for the number that the digits fill.",
			fmt.Sprintf("Measured: one round at the first model, every client with a generated digit, %d repeats; low and high are Student's 95 %% interval.", repeats),
		},
	}
	panel := figure.Panel{XLabel: "clients", YLabel: "noise of the run, units of the gradient", LogX: true, LogY: true}
	worst, above := 0.0, 0.0
	for _, budget := range budgets {
		line := figure.Series{Name: fmt.Sprintf("central ε = %g", budget), Style: figure.LinePoints}
		for _, p := range all {
			if p.budget != budget {
				continue
			}
			s := p.run.Schedule
			row := experiment.Row{
				p.clients, p.budget, s.EpsilonCentral, s.Mechanism, s.Slots, s.EpsilonLocal, s.EpsilonLocal * float64(s.Participations),
				s.Noise, s.Considered[0].NoiseOfRun, nil, nil, nil, nil, nil, nil,
			}
			if len(p.measured) > 0 {
				m := p.noise()
				copy(row[len(row)-6:], experiment.Row{p.entries, p.exact, m.Value, m.Low, m.High, len(p.measured)})
				worst, above = max(worst, math.Abs(m.Value/p.exact-1)), max(above, m.Value/s.Noise-1)
			}
			r.Rows = append(r.Rows, row)
			line.X, line.Y = append(line.X, float64(p.clients)), append(line.Y, s.Considered[0].NoiseOfRun)
		}
		panel.Series = append(panel.Series, line)
	}
	known := slices.ContainsFunc(all, func(p *prediction) bool { return len(p.measured) > 0 })
	r.Verdicts = []experiment.Verdict{{
		Claim: fmt.Sprintf("the measured noise of a round is within %g %% of the exact one for the entries that clients fill", 100*tolerance),
		Holds: known && worst <= tolerance, Detail: fmt.Sprintf("off by %.1f %% at most", 100*worst),
	}, {
		Claim: fmt.Sprintf("the measured noise of a round is at most the planned one and %g %%", 100*tolerance),
		Holds: known && above <= tolerance, Detail: fmt.Sprintf("above it by %.1f %% at most", 100*above),
	}}
	r.Plot = &figure.Figure{Panels: []figure.Panel{panel}}
	return r
}
