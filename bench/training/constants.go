package training

import (
	"context"
	"fmt"
	"hash/crc32"
	"math"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

func constantsExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   "constants",
		Title:  "Accuracy with the planner's constants and with others around them",
		Source: "Our own search for the constants of package plan; no paper",
		Bind: func(flags *flag.FlagSet) experiment.Run {
			central := flags.Float64("central", 0.1, "central ε of the whole run")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				if !(*central > 0 && *central <= fl.MaxEpsilon) {
					return nil, fl.Invalid("--central", *central, "must be in (0, %d]", fl.MaxEpsilon)
				}
				return runConstants(ctx, env, *central)
			}
		},
	}
}

// choice is one value of one constant.
type choice struct {
	what, value string
	planned     bool
	grey        bool // grey values instead of oriented edges
	setting
	contender string
	cell      *cell // shared by choices that are the same run
}

// search are the choices around a plan.
type search struct {
	edges, grey *task
	central     float64
	repeats     int
	demands     plan.Training
}

// choices returns rows of choices: each row has the planned value among its own.
func (s search) choices(ctx context.Context) ([]choice, error) {
	at := setting{Training: s.demands, epsilon: s.central, server: server{momentum: -1, averaging: -1}}
	t := s.demands
	t.Epsilon = s.central
	schedule, err := t.Schedule(ctx)
	if err != nil {
		return nil, err
	}
	rate, momentum := schedule.Steps.LearningRate, schedule.Steps.Momentum
	with := func(what, value string, change func(*choice)) choice {
		c := choice{what: what, value: value, setting: at, contender: mechanisms.Auto}
		if change == nil {
			c.planned = true
		} else {
			change(&c)
		}
		return c
	}
	rateOf := func(rate float64) func(*choice) { return func(c *choice) { c.server.rate = rate } }
	steady := func(m float64) func(*choice) { // the same rate over many rounds
		return func(c *choice) { c.server.momentum, c.server.rate = m, rate*(1-m)/(1-momentum) }
	}
	averaging := func(decay float64) func(*choice) { return func(c *choice) { c.server.averaging = decay } }
	share := func(v float64) func(*choice) {
		return func(c *choice) { c.Sparsity = int(math.Ceil(t.L1 / t.L2 * (t.L1 / t.L2) / v)) }
	}
	often := func(k int) func(*choice) { return func(c *choice) { c.Participations = k } }
	noiseless := t.Steps(0).LearningRate
	limit := func(times float64) func(*choice) {
		return func(c *choice) { c.contender, c.server.rate, c.planned = baseline.None, times*noiseless, times == 1 }
	}
	return []choice{
		with("learning rate", "half", rateOf(rate/2)), with("learning rate", "as planned", nil), with("learning rate", "double", rateOf(2*rate)),
		with("momentum", "0", steady(0)), with("momentum", "0.5", nil), with("momentum", "0.9", steady(0.9)),
		with("decay of the average", "0", averaging(0)), with("decay of the average", "0.8", nil), with("decay of the average", "0.95", averaging(0.95)),
		with("τ over the typical size", "0.5", share(0.5)), with("τ over the typical size", "0.35", nil), with("τ over the typical size", "0.25", share(0.25)),
		with("reports of a client", "1", often(1)), with("reports of a client", "5", often(5)), with("reports of a client", fmt.Sprint(t.Rounds), nil),
		with("features", "grey values", func(c *choice) { c.grey = true }), with("features", "oriented edges", nil),
		with("rate limit, no privacy", "40", limit(0.5)), with("rate limit, no privacy", "80", limit(1)), with("rate limit, no privacy", "160", limit(2)),
	}, nil
}

func runConstants(ctx context.Context, env experiment.Env, central float64) (*experiment.Result, error) {
	options, rounds := dataset.Options{Source: env.Data, Seed: env.Seed}, 30
	s := search{central: central, repeats: env.RepeatsOr(3)}
	if env.Quick {
		options.TrainSize, options.TestSize, rounds, s.repeats = 6000, 1000, 10, env.RepeatsOr(2)
	}
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, err
	}
	note, data := data.Note, heldOut(data)
	if s.edges, err = newTask(ctx, env, data, dataset.Edges); err != nil {
		return nil, err
	}
	if s.grey, err = newTask(ctx, env, data, dataset.Grey); err != nil {
		return nil, err
	}
	sweep := sweep{rounds: rounds, delta: 1e-6, repeats: s.repeats, server: server{momentum: -1, averaging: -1}}
	if s.demands, err = sweep.demands(ctx, s.edges); err != nil {
		return nil, err
	}
	grey, err := sweep.demands(ctx, s.grey)
	if err != nil {
		return nil, err
	}
	choices, err := s.choices(ctx)
	if err != nil {
		return nil, err
	}
	env.Progress.Describe("constants")
	cells := map[string]*cell{}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i := range choices {
		c, t := &choices[i], s.edges
		if c.grey {
			t, c.Training = s.grey, grey
		}
		c.model = t.model
		key := fmt.Sprintf("%s %v %d %d %v", c.contender, c.server, c.Sparsity, c.Participations, c.grey)
		if c.cell = cells[key]; c.cell != nil {
			continue
		}
		k, err := parseContenders(c.contender)
		if err != nil {
			return nil, err
		}
		c.cell = &cell{contender: k[0], epsilon: central}
		cells[key] = c.cell
		env.Progress.Grow(s.repeats)
		group.Go(func() error {
			return c.measure(inner, env, t, key, s.repeats)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return reportConstants(choices, central, note), nil
}

// measure trains as often as there are repeats.
func (c *choice) measure(ctx context.Context, env experiment.Env, t *task, key string, repeats int) (err error) {
	if c.cell.course, err = c.cell.contender.course(ctx, c.setting); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for k := range repeats {
		values, err := env.Checkpoint.Do(fmt.Sprintf("%s %d", key, k), func() ([]float64, error) {
			out, err := t.run(ctx, c.cell.course.recipe, experiment.Stream(env.Seed, 10, uint64(crc32.ChecksumIEEE([]byte(key))), uint64(k)))
			return []float64{out.accuracy, out.rate}, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		c.cell.outcomes = append(c.cell.outcomes, outcome{accuracy: values[0], rate: values[1]})
		env.Progress.Step()
	}
	return nil
}

func reportConstants(choices []choice, central float64, note string) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"constant", "value", "planned", "accuracy", "low", "high", "repeats", "learning_rate", "sparsity", "participations", "epsilon_local", "epsilon_central", "attack_one_report", "attack_linked"},
		Notes: []string{
			note + fmt.Sprintf(". Trained on the first five sixths of the training pictures, tested on the others. Central ε = %g of the whole run.", central),
			"The features have no network behind them: nothing public was trained on, and there is no zero-shot accuracy. attack_one_report and attack_linked bound the probability with which the receiver of one report, or of all of a client's, finds out which of two equally likely gradients the client holds.",
			"low and high are Student's 95 % interval of the mean over the repeats. Momentum is compared at equal learning_rate/(1 − momentum).",
		},
		Plot: &figure.Figure{Columns: 2, ErrorBars: experiment.ErrorBars},
	}
	planned := map[string]experiment.Interval{}
	for _, c := range choices {
		if c.planned {
			planned[c.what] = c.cell.accuracy()
		}
	}
	verdict := &experiment.Verdict{}
	for i, c := range choices {
		a := c.cell.accuracy()
		one, all := c.cell.course.attacks()
		r.Rows = append(r.Rows, experiment.Row{
			c.what, c.value, c.planned, a.Value, a.Low, a.High, len(c.cell.outcomes), c.cell.outcomes[0].rate, c.cell.course.sparsity, c.cell.course.participations,
			orNil(c.cell.course.local), orNil(c.cell.course.central), one, all,
		})
		if i == 0 || choices[i-1].what != c.what {
			verdict = &experiment.Verdict{Claim: c.what + ": no other value is better than the planned one, but for chance", Holds: true}
			if len(c.cell.outcomes) > 1 { // one repeat shows nothing of chance
				r.Verdicts = append(r.Verdicts, *verdict)
				verdict = &r.Verdicts[len(r.Verdicts)-1]
			}
			r.Plot.Panels = append(r.Plot.Panels, figure.Panel{Title: c.what, YLabel: "accuracy on held-out pictures", Series: []figure.Series{{Style: figure.Points}}})
		} else {
			verdict.Detail += "; "
		}
		verdict.Detail += fmt.Sprintf("%s: %.3f", c.value, a.Value)
		verdict.Holds = verdict.Holds && a.Low <= planned[c.what].High
		p := &r.Plot.Panels[len(r.Plot.Panels)-1]
		p.Categories = append(p.Categories, c.value)
		p.Series[0].AddNext(a.Value, a.Low, a.High)
	}
	return r
}
