package keyvalues

import (
	"context"
	"fmt"
	"math/rand/v2"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

const pckvPaper = `Gu et al., "PCKV: Locally Differentially Private Correlated Key-Value Data Collection with Optimized Utility" (2020)`

const (
	singleClients = 1_000_000
	quickSingles  = 100_000
	// paperRepeats is how many repeats the paper averages.
	paperRepeats = 5
)

// ofSingles is an experiment with synthetic data: its sweep for a number of clients, and its claims.
type ofSingles struct {
	settings []string // of a run that is to decide claims; nil: the defaults
	number   int
	title    string
	sweep    func(quick bool, clients int) sweep
	claims   func(s *sweep, points []*point) []experiment.Verdict
}

func (o ofSingles) experiment() experiment.Experiment {
	return experiment.Experiment{
		Name:    fmt.Sprintf("fig%d-pckv", o.number),
		Title:   "PCKV: " + o.title + ", synthetic data",
		Source:  fmt.Sprintf("%s, Figure %d", pckvPaper, o.number),
		Without: []string{experiment.FlagData}, Settings: o.settings,
		Bind: func(flags *flag.FlagSet) experiment.Run {
			clients := flags.Int("clients", 0, fmt.Sprintf("number of clients; 0: the paper's %d, with --quick %d", singleClients, quickSingles))
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				if *clients < 0 || *clients > fl.MaxReports {
					return nil, fl.Invalid("--clients", *clients, "must be in [0, %d]", fl.MaxReports)
				}
				n := *clients
				switch {
				case n == 0 && env.Quick:
					n = quickSingles
				case n == 0:
					n = singleClients
				}
				return o.run(ctx, env, n)
			}
		},
	}
}

func (o ofSingles) run(ctx context.Context, env experiment.Env, clients int) (*experiment.Result, error) {
	s := o.sweep(env.Quick, clients)
	s.number, s.title = o.number, o.title
	s.repeats = env.RepeatsOr(paperRepeats)
	s.notes = append([]string{
		fmt.Sprintf("n = %d, one pair per client, padding length 1.", clients),
		fmt.Sprintf("Uniform: uniform keys, and the mean of a key uniform on [−1, 1]. Gaussian: the key 1, 2, … is N(0, %d²), rounded, and the mean of a key N(0, %d); draws outside the keys or outside [−1, 1] are discarded. All holders of a key have its mean as their value.", sigmaKey, sigmaMean),
	}, s.notes...)
	points, err := s.run(ctx, env)
	if err != nil {
		return nil, err
	}
	r := s.report(points)
	r.Plot.Title = fmt.Sprintf("PCKV: %s, n = %d, synthetic data", o.title, clients)
	r.Verdicts = o.claims(&s, points)
	return r, nil
}

// singlesOf is a source of clients by a law.
func singlesOf(by law, clients, dim int) source {
	return source{string(by), dim, 1, func(rng *rand.Rand) (dataset, error) { return newSingles(by, clients, dim, rng), nil }}
}

// allDims are sources of Gaussian clients with several numbers of keys.
func allDims(clients int, dims []int) (out []source) {
	for _, d := range dims {
		out = append(out, singlesOf(gaussianLaw, clients, d))
	}
	return out
}
