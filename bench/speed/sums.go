package speed

import (
	"context"
	"fmt"
	"slices"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

// sums is the experiment that sets the sums by two servers beside the sums by one shuffler.
var sums = experiment.Experiment{
	Name:    "sums",
	Title:   "What a client pays for a private sum: by one trusted shuffler, and by two servers",
	Source:  "The merged form is SumDP; the other one is this module's",
	Without: []string{experiment.FlagData},
	Bind: func(f *flag.FlagSet) experiment.Run {
		s := sumsSetting{}
		f.IntVar(&s.dim, "dim", 1970, "coordinates of a gradient")
		f.IntVar(&s.clients, "clients", 6000, "clients of a round, over whom the noise is spread")
		f.Float64Var(&s.epsilon, "epsilon", 1, "ε of a round")
		f.Float64Var(&s.delta, "delta", 1e-6, "δ of a round")
		return s.run
	},
}

// sumsSetting is what the flags say.
type sumsSetting struct {
	dim, clients   int
	epsilon, delta float64
}

// sum is one form of the sum.
type sum struct {
	mechanism, against string
	params             fl.Params
}

func (s *sumsSetting) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	forms := []sum{
		{hdsum.Name, "everybody but the one who receives the reports", fl.Params{hdsum.ParamLevels: fl.Int(1), hdsum.ParamRange: fl.Real(0.8)}},
		{hdsum.SharesName, "either of two servers alone", nil},
	}
	repeats := env.RepeatsOr(50)
	if env.Quick {
		repeats = env.RepeatsOr(5)
	}
	out := &experiment.Result{
		Columns: []string{"mechanism", "against", "dim", "clients", "epsilon", "delta", "bytes", "nanoseconds", "median_nanoseconds"},
		Notes: []string{
			"Both encode gradients of normal entries. sumdp has one integer level for a rotated coordinate, range 0.8.",
			fmt.Sprintf("nanoseconds is the fastest of %d repeats on one core. bytes is the mean over the reports of the repeats.", repeats),
		},
	}
	env.Progress.Describe("sums")
	env.Progress.Grow(len(forms))
	for _, form := range forms {
		row, err := s.measure(ctx, form, repeats, env.Seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", form.mechanism, err)
		}
		out.Rows = append(out.Rows, row)
		env.Progress.Step()
	}
	return out, nil
}

// measure encodes real gradients.
func (s *sumsSetting) measure(ctx context.Context, form sum, repeats int, seed uint64) (experiment.Row, error) {
	_, m, err := fl.Complete(fl.Round{
		ID: "sums", Mechanism: form.mechanism, Dim: s.dim, Scale: 1, Epsilon: s.epsilon, Delta: s.delta,
		Relation: fl.ReplaceOne, MinReports: s.clients, PublicSeed: [32]byte{1},
		Params: form.params,
	})
	if err != nil {
		return nil, err
	}
	rng := experiment.Stream(seed, 95)
	grad := make([]float64, s.dim)
	for i := range grad {
		grad[i] = rng.NormFloat64()
	}
	var report []byte
	encoded, total := 0, 0
	times, err := take(ctx, 3, repeats, func() (err error) {
		report, err = m.Encode(report[:0], grad, rng)
		encoded, total = encoded+1, total+len(report)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(times)
	return experiment.Row{
		form.mechanism, form.against, s.dim, s.clients, s.epsilon, s.delta,
		float64(total) / float64(encoded), times[0], times[len(times)/2],
	}, nil
}

// take returns nanoseconds of an operation that is done n times in each repeat.
func take(ctx context.Context, n, repeats int, do func() error) (out []float64, err error) {
	for range repeats {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		for range n {
			if err := do(); err != nil {
				return nil, err
			}
		}
		out = append(out, float64(time.Since(began).Nanoseconds())/float64(n))
	}
	return out, nil
}
