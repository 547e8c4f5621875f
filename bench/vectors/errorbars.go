package vectors

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

func coverage() experiment.Experiment {
	return experiment.Experiment{
		Name:    "coverage",
		Title:   "Share of coordinates within 1.96 standard errors of the truth",
		Source:  "Our own claim about the error bars of sparse mechanisms; no paper",
		Without: []string{experiment.FlagData},
		Bind: func(*flag.FlagSet) experiment.Run {
			return runCoverage
		},
	}
}

const (
	coverageDim = 60
	// promised is the least share that package sparse states.
	promised = 0.93
)

// covered is a setting: what clients encode with, and how many there are. All clients of a round
// hold the same vector.
type covered struct {
	name              string
	mechanism         string
	doubled           bool // t = 2s slots, the fewest that CoCo has
	sparsity, reports int
	epsilon           float64
	all, held         shares
}

// shares counts the coordinates that an interval covers.
type shares struct {
	covered, coordinates int
	errors, bars         float64 // sums of squares
}

func (s *shares) add(value, stderr, truth float64) {
	s.coordinates++
	s.errors += (value - truth) * (value - truth)
	s.bars += stderr * stderr
	if math.Abs(value-truth) < 1.96*stderr {
		s.covered++
	}
}

// interval is the share with its interval. Coordinates count as independent.
func (s shares) interval() experiment.Interval {
	return experiment.ShareInterval(s.covered, s.coordinates)
}

// coverageSettings are all mechanisms at four points: three with many entries, and one whose
// entry is hardly less than the noise of a report.
func coverageSettings(reports []int) (all []*covered) {
	for _, m := range []covered{
		{name: coco.Name, mechanism: coco.Name}, {name: coco.Name + ", t = 2s", mechanism: coco.Name, doubled: true},
		{name: collision.Name, mechanism: collision.Name}, {name: signsketch.Name, mechanism: signsketch.Name},
	} {
		for _, at := range []struct {
			sparsity int
			epsilon  float64
		}{{8, 0.5}, {8, 3}, {8, 6}, {1, 6}} {
			for _, n := range reports {
				c := m
				c.sparsity, c.epsilon, c.reports = at.sparsity, at.epsilon, n
				all = append(all, &c)
			}
		}
	}
	return all
}

func runCoverage(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	reports := []int{1, 2, 5, 10, 30, 100, 1000, 100_000}
	if env.Quick {
		reports = []int{1, 10, 100}
	}
	settings := coverageSettings(reports)
	env.Progress.Describe("coverage")
	env.Progress.Grow(len(settings))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i, c := range settings {
		group.Go(func() error {
			defer env.Progress.Step()
			rounds := 400
			switch {
			case env.Quick:
				rounds = 100
			case c.reports > 1000:
				rounds = 240 / c.sparsity // as many coordinates that clients hold
			}
			for k := range env.RepeatsOr(rounds) {
				if err := c.round(inner, experiment.Stream(env.Seed, 93, uint64(i), uint64(k))); err != nil {
					return fmt.Errorf("%s with %d reports: %w", c.name, c.reports, err)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return reportCoverage(settings), nil
}

// params returns the parameters of the setting's rounds.
func (c *covered) params() fl.Params {
	p := fl.Params{sparse.ParamSparsity: fl.Int(c.sparsity)}
	if c.doubled {
		p = p.With(sparse.ParamSlots, fl.Int(2*c.sparsity)).With(sparse.ParamHash, fl.Text(sparse.HashGF2))
	}
	return p
}

// round holds one round of the real mechanism and counts what its intervals cover.
func (c *covered) round(ctx context.Context, rng *rand.Rand) error {
	r := fl.Round{
		ID: "coverage", Mechanism: c.mechanism, Dim: coverageDim, Scale: 1, Epsilon: c.epsilon, Relation: fl.ReplaceOne, MinReports: 1, Params: c.params(),
	}
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(rng.Uint32())
	}
	_, opened, err := fl.Complete(r)
	if err != nil {
		return err
	}
	m := opened.(fl.SparseMechanism)
	vector, truth := fl.Ternary{Dim: coverageDim}, make([]float64, coverageDim)
	for j := range c.sparsity {
		sign := int8(1 - 2*(j%2))
		vector.Index, vector.Sign, truth[j] = append(vector.Index, uint32(j)), append(vector.Sign, sign), float64(sign)
	}
	agg, report := m.NewAggregator(), []byte(nil)
	for i := range c.reports {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if report, err = m.EncodeTernary(report[:0], vector, rng); err != nil {
			return err
		}
		if err := agg.Add(report); err != nil {
			return err
		}
	}
	e, err := agg.Estimate()
	if err != nil {
		return err
	}
	mean := e.Mean()
	for j, v := range mean.Value {
		c.all.add(v, mean.StdErr[j], truth[j])
		if truth[j] != 0 {
			c.held.add(v, mean.StdErr[j], truth[j])
		}
	}
	return nil
}

func reportCoverage(settings []*covered) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"mechanism", "sparsity", "epsilon", "reports", "covered", "low", "high", "covered_held", "held_low", "held_high", "bar_over_error"},
		Notes: []string{
			fmt.Sprintf("All clients of a round hold the same ternary vector with s of %d coordinates. covered counts all coordinates, covered_held those that clients hold.", coverageDim),
			"low and high are Wilson's 95 % interval. bar_over_error is the root mean square of the standard errors over the root mean square of the errors, for coordinates that clients hold: 1 is a bar that is as long as it has to be.",
		},
	}
	panels := map[string]int{}
	plot := &figure.Figure{Columns: 2, ErrorBars: experiment.ErrorBars}
	verdict := experiment.Verdict{Claim: fmt.Sprintf("Error bars: intervals cover at least %g %% of the coordinates that clients hold, in every setting and but for chance", 100*promised), Holds: true}
	least, where := experiment.Interval{Value: 1}, ""
	for _, c := range settings {
		all, held := c.all.interval(), c.held.interval()
		r.Rows = append(r.Rows, experiment.Row{
			c.name, c.sparsity, c.epsilon, c.reports, all.Value, all.Low, all.High, held.Value, held.Low, held.High, math.Sqrt(c.held.bars / c.held.errors),
		})
		if held.Value < least.Value {
			least, where = held, fmt.Sprintf("%s, s = %d, ε = %g, %d reports", c.name, c.sparsity, c.epsilon, c.reports)
		}
		verdict.Holds = verdict.Holds && held.High >= promised && all.High >= promised
		title := fmt.Sprintf("s = %d, ε = %g", c.sparsity, c.epsilon)
		at, ok := panels[title]
		if !ok {
			at = len(plot.Panels)
			panels[title] = at
			plot.Panels = append(plot.Panels, figure.Panel{
				Title: title, XLabel: "reports of a round", YLabel: "share covered, of held coordinates", LogX: true, YRange: [2]float64{0.8, 1},
			})
		}
		p := &plot.Panels[at]
		if k := len(p.Series); k == 0 || p.Series[k-1].Name != c.name {
			p.Series = append(p.Series, figure.Series{Name: c.name, Style: figure.LinePoints})
		}
		p.Series[len(p.Series)-1].Add(float64(c.reports), held.Value, held.Low, held.High)
	}
	verdict.Ours = fmt.Sprintf("at least %.1f %% [%.1f, %.1f]", 100*least.Value, 100*least.Low, 100*least.High)
	verdict.Detail = "the least is for " + where
	r.Verdicts, r.Plot = []experiment.Verdict{verdict}, plot
	for i := range plot.Panels {
		p := &plot.Panels[i]
		first, last := p.Series[0].X[0], p.Series[0].X[len(p.Series[0].X)-1]
		p.Series = append(p.Series, figure.Series{Name: "promised", X: []float64{first, last}, Y: []float64{promised, promised}, Style: figure.Dashed})
	}
	return r
}
