package keyvalues

import (
	"context"
	"flag"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue/pckv"
	"github.com/hushgrad/hushgrad/keyvalue/privkv"
)

// sweep is a figure of the PCKV paper: errors on synthetic data.
type sweep struct {
	number     int
	title      string
	dims       []int
	epsilons   []float64
	quickDims  []int
	quick      []float64 // ε
	againstDim bool      // what the horizontal axis shows
}

var sweeps = []sweep{
	{
		6, "errors against ε", []int{100}, []float64{0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6},
		[]int{100}, []float64{0.5, 2, 5}, false,
	},
	{
		7, "errors against the number of keys", []int{100, 200, 500, 1000, 2000}, []float64{1, 5},
		[]int{100, 400}, []float64{1, 5}, true,
	},
}

// rival is a mechanism in the sweeps.
type rival struct{ label, name string }

var rivals = []rival{
	{"PrivKVM", privkv.NamePrivKVM},
	{"KVUE", privkv.NameKVUE},
	{"PCKV-UE", pckv.UE},
	{"PCKV-GRR", pckv.GRR},
}

// isPCKV reports whether a rival is one of the paper's own.
func isPCKV(name string) bool { return name == pckv.UE || name == pckv.GRR }

func (s sweep) experiment() experiment.Experiment {
	return experiment.Experiment{
		Name:    fmt.Sprintf("fig%d-pckv", s.number),
		Title:   "PCKV: " + s.title + ", synthetic data",
		Source:  fmt.Sprintf("%s, Figure %d", pckvPaper, s.number),
		Without: []string{experiment.FlagData},
		Bind: func(flags *flag.FlagSet) experiment.Run {
			clients := flags.Int("clients", 0, "number of clients; 0: 1000000, with -quick 100000")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				switch {
				case *clients < 0 || *clients > fl.MaxReports:
					return nil, fl.Invalid("-clients", *clients, "must be in [0, %d]", fl.MaxReports)
				case *clients > 0:
					return s.run(ctx, env, *clients)
				case env.Quick:
					return s.run(ctx, env, 100_000)
				}
				return s.run(ctx, env, 1_000_000)
			}
		},
	}
}

// Quantities whose errors are measured.
const (
	frequency = iota
	mean
)

var quantities = [2]string{"frequency", "mean"}

// point is one mechanism at one setting of a sweep.
type point struct {
	distribution int // index
	dim          int
	epsilon      float64
	rival        int       // index
	values       []float64 // a score for each repeat
	scores       [len(quantities)][2]score
}

// score is a mean squared error over the keys of a scope: the average of the repeats with
// its interval and its standard error, and what is expected.
type score struct {
	mse    experiment.Interval
	stderr float64
	theory theory
}

func (s sweep) run(ctx context.Context, env experiment.Env, clients int) (*experiment.Result, error) {
	repeats := env.RepeatsOr(10)
	if env.Quick {
		repeats = env.RepeatsOr(3)
		s.dims, s.epsilons = s.quickDims, s.quick
	}
	env.Progress.Describe(fmt.Sprintf("fig%d-pckv", s.number))
	env.Progress.Grow(len(distributions) * len(s.dims) * len(s.epsilons) * len(rivals))
	var points []*point
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for distribution := range distributions {
		for _, dim := range s.dims {
			p := newSingles(distribution, clients, dim, experiment.Stream(env.Seed, 62, uint64(distribution), uint64(dim), uint64(clients)))
			for _, epsilon := range s.epsilons {
				for i := range rivals {
					at := &point{distribution: distribution, dim: dim, epsilon: epsilon, rival: i}
					points = append(points, at)
					group.Go(func() error {
						defer env.Progress.Step()
						return at.run(running, env, p, repeats)
					})
				}
			}
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return s.report(points, clients, repeats), ctx.Err()
}

// run measures all repeats of a point and compares them with the theory.
func (at *point) run(ctx context.Context, env experiment.Env, p *singles, repeats int) error {
	r := rivals[at.rival]
	key := fmt.Sprintf("%s %s n=%d d=%d eps=%g", r.label, distributions[at.distribution], p.clients, at.dim, at.epsilon)
	values, err := env.Checkpoint.Do(key, func() ([]float64, error) {
		var all []float64
		for i := range repeats {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			scores, err := at.measure(env, p, i)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			all = append(all, scores...)
		}
		return all, nil
	})
	if err != nil {
		return err
	}
	at.values = values
	return at.summarize(p, repeats)
}

// measure runs one round and returns the mean squared error of every quantity in every
// scope.
func (at *point) measure(env experiment.Env, p *singles, repeat int) ([]float64, error) {
	rng := experiment.Stream(env.Seed, 63, uint64(at.distribution), uint64(at.dim), math.Float64bits(at.epsilon), uint64(at.rival), uint64(p.clients), uint64(repeat))
	round := fl.Round{ID: "bench", Mechanism: rivals[at.rival].name, Dim: at.dim, Scale: 1, Epsilon: at.epsilon, MinReports: p.clients, Columns: []string{fl.ColumnFrequency, fl.ColumnConditional}}
	if isPCKV(round.Mechanism) {
		round.Params = fl.Params{pckv.ParamPadding: fl.Int(1)}
	}
	o, err := openRound(round, rng)
	if err != nil {
		return nil, err
	}
	if err := simulate(o.round, o.agg, p, rng); err != nil {
		return nil, err
	}
	e, err := o.agg.Estimate()
	if err != nil {
		return nil, err
	}
	frequency, _ := e.Column(fl.ColumnFrequency)
	conditional, _ := e.Column(fl.ColumnConditional)
	var out []float64
	for quantity := range quantities {
		for _, s := range scopes {
			sum, keys := 0.0, s.keys(p)
			for _, k := range keys {
				off := frequency.Value[k] - float64(p.holders[k])/float64(p.clients)
				if quantity == mean {
					off = conditional.Value[k] - p.mean[k]
				}
				sum += off * off
			}
			out = append(out, sum/float64(len(keys)))
		}
	}
	return out, nil
}

// summarize fills the scores from the values of the repeats.
func (at *point) summarize(p *singles, repeats int) error {
	for quantity := range quantities {
		for i, s := range scopes {
			var values []float64
			for j := quantity*len(scopes) + i; j < len(at.values); j += len(quantities) * len(scopes) {
				values = append(values, at.values[j])
			}
			c := &at.scores[quantity][i]
			if c.mse = experiment.MeanInterval(values); len(values) > 1 {
				c.stderr = stat.StdErr(stat.StdDev(values, nil), float64(len(values)))
			}
			var err error
			if c.theory, err = at.expected(p, quantity, s, repeats); err != nil {
				return err
			}
		}
	}
	return nil
}
