// Package attack measures what reports reveal about a client's label, by attacking them. Use
// it to see what a value of ε means. Start with go run ./bench attack.
//
// The attacker is the receiver of the reports. It knows everything public: the model, the
// round and its hash functions, and pictures that no client holds. From these it learns how
// likely a client of each class is to send each slot. It adds up log-likelihoods over the
// reports that it can link to one client, and guesses the class with the largest sum. The
// contrast is the same attack on shuffled reports, which nobody can link.
package attack

import (
	"cmp"
	"context"
	"fmt"
	"math"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/trainer"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:   "attack",
		Title:  "Label inference against linked and against shuffled reports",
		Source: "Our own attack on the real encoder; no paper",
		Bind: func(f *flag.FlagSet) experiment.Run {
			s := setting{}
			f.Float64Var(&s.epsilon, "epsilon", 4.5, "local ε of one report")
			f.IntVar(&s.victims, "victims", 0, "clients under attack, at least 20; 0: 1000, or 100 with --quick")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) { return s.run(ctx, env) }
		},
	}}
}

// setting is what the flags say.
type setting struct {
	epsilon float64
	victims int
}

// linked are the numbers of reports that the attacker links to one client.
var linked = []int{1, 2, 5, 10, 20, 30}

func (s setting) validate() error {
	switch {
	case !(s.epsilon > 0 && s.epsilon <= fl.MaxEpsilon):
		return fl.Invalid("--epsilon", s.epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case s.victims != 0 && s.victims < 20:
		return fl.Invalid("--victims", s.victims, "must be at least 20, or 0")
	}
	return nil
}

func (s setting) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	options := dataset.Options{Source: env.Data, Seed: env.Seed}
	victims := 1000
	if env.Quick {
		victims = 100
		options.TrainSize, options.TestSize = 2000, 1000
	}
	s.victims = cmp.Or(s.victims, victims)
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, err
	}
	note := data.Note
	env.Progress.Describe("features")
	edges, err := dataset.OpenFeatures(ctx, dataset.Edges, nil)
	if err != nil {
		return nil, err
	}
	if data, err = data.In(ctx, edges, env.Progress); err != nil {
		return nil, err
	}
	if s.victims > data.Train.Len() {
		return nil, fl.Invalid("--victims", s.victims, "must be at most the number of pictures, %d", data.Train.Len())
	}
	env.Progress.Describe("attack")
	env.Progress.Grow(s.victims)
	target, err := s.target(data)
	if err != nil {
		return nil, err
	}
	likelihoods, err := target.read(ctx, env)
	if err != nil {
		return nil, err
	}
	return s.report(likelihoods, target.labels(), data.Train.Classes, note), nil
}

// target is the first round of softmax regression.
func (s setting) target(data *dataset.Data) (Target, error) {
	public := data.Test
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: public.Rows, Width: public.Cols}, public.Classes)
	if err != nil {
		return Target{}, err
	}
	t := Target{Model: model, Params: model.Init(experiment.Stream(0)), Public: public, Clients: data.Train, Victims: s.victims, Reports: linked[len(linked)-1]}
	l1, l2, err := trainer.GradientNorms(model, t.Params, public.All()[:256], public.Labels[:256])
	if err != nil {
		return Target{}, err
	}
	sparsity, scale := plan.Training{Dim: model.Dim(), L1: l1, L2: l2}.Shape()
	t.Round = fl.Round{
		ID: "attack", Mechanism: coco.Name, Dim: model.Dim(), Scale: scale, Epsilon: s.epsilon, Relation: fl.ReplaceOne,
		MinReports: 1, PublicSeed: [32]byte{1}, // replaced in every round
		Params: fl.Params{sparse.ParamSparsity: fl.Int(sparsity)},
	}
	return t, nil
}

// guess returns the class with the largest sum of log-likelihoods.
func guess(reports [][]float64) int {
	best, most := 0, math.Inf(-1)
	for class := range reports[0] {
		sum := 0.0
		for _, l := range reports {
			sum += l[class]
		}
		if sum > most {
			best, most = class, sum
		}
	}
	return best
}

// describe is the note about what was attacked.
func (s setting) describe(note string) []string {
	return []string{
		note,
		fmt.Sprintf("%d clients with one picture each send CoCo reports of local ε = %g at the first model of softmax regression on oriented edges.", s.victims, s.epsilon),
		"The attacker learns the classes from the test pictures. A better attacker may find more.",
		"Error bars: Wilson's 95 % intervals over the clients.",
	}
}
