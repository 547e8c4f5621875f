package training

import (
	"context"
	"math"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
)

// sweep is what bench accuracy runs over.
type sweep struct {
	rounds     int
	delta      float64
	server     server
	sumdp      fl.Params
	heldOut    bool
	classes    int // of the files
	transpose  bool
	clients    int
	skew       float64
	dropout    float64
	references bool // beside each result, whatever the contenders are
	anchors    bool
	locals     []float64 // ε of one report
	centrals   []float64 // ε of all of a client's reports
	repeats    int
	features   []string // names
	contenders []contender
}

func accuracyExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   "accuracy",
		Title:  "Test accuracy against local and central ε, one report per client and round",
		Source: "Mechanisms of this module, the baselines of package baseline, and no privacy, on the same gradients with the same accounting",
		Bind: func(flags *flag.FlagSet) experiment.Run {
			s := sweep{}
			flags.IntVar(&s.rounds, "rounds", 30, "rounds of training")
			flags.Float64Var(&s.delta, "delta", 1e-6, "δ at which the central ε of all rounds is stated")
			kinds := flags.String("features", dataset.Edges, "comma-separated `list` of what the model sees of a picture, among "+strings.Join(dataset.FeatureNames(), ","))
			flags.BoolVar(&s.heldOut, "held-out", false, "test on the last sixth of the training pictures and train on the others: for choosing constants")
			flags.IntVar(&s.clients, "clients", 0, "clients, who share the training pictures; 0: one per picture")
			flags.Float64Var(&s.skew, "skew", 0, "concentration of the Dirichlet distribution from which each client draws its shares of the classes, with --clients: at 0.1 most of its pictures are of one or two classes; 0: no client differs")
			flags.Float64Var(&s.dropout, "dropout", 0, "probability with which each client of a round does not report, in [0, 0.9]. A round closes with the reports that all rounds but one in a million have, and what is promised rests on these")
			flags.BoolVar(&s.references, "references", true, "train without privacy and with a trusted server, too, beside each result, where --mechanisms leaves these out")
			flags.BoolVar(&s.anchors, "anchors", true, "on MNIST: mark what papers report in a picture of its own")
			flags.Float64Var(&s.server.rate, "lr", 0, "learning rate of every run; 0: planned from the noise")
			flags.Float64Var(&s.server.momentum, "momentum", -1, "momentum of every run, in [0, 1); -1: planned")
			flags.Float64Var(&s.server.averaging, "averaging", -1, "decay of the average of the models, in [0, 1), which is the one that counts; -1: planned")
			classes, transpose := bindClasses(flags)
			sumdp := bindSumDP(flags)
			names := flags.String("mechanisms", "", "comma-separated `list` of those to compare; empty: "+strings.Join(contenderNames(), ","))
			with := experiment.BindWith(flags)
			locals := flags.String("local", "", "comma-separated `list` of ε of one report, for local mechanisms; empty: 0.5,1,2,4,6,8")
			centrals := flags.String("central", "", "comma-separated `list` of ε of the whole run, for the others; empty: 0.1,0.25,0.6,1,2,4")
			return func(ctx context.Context, env experiment.Env) (_ *experiment.Result, err error) {
				s := s
				s.sumdp, s.classes, s.transpose = sumdp(), *classes, *transpose
				if s.contenders, err = parseContenders(*names); err != nil {
					return nil, err
				}
				own, err := with()
				if err != nil {
					return nil, err
				}
				s.contenders = slices.Concat(s.contenders, ownContenders(own))
				if s.features, err = parseFeatures(*kinds); err != nil {
					return nil, err
				}
				if s.locals, err = parseEpsilons("--local", *locals); err != nil {
					return nil, err
				}
				if s.centrals, err = parseEpsilons("--central", *centrals); err != nil {
					return nil, err
				}
				return s.run(ctx, env)
			}
		},
	}
}

func (s sweep) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	switch {
	case s.rounds < 3:
		return nil, fl.Invalid("--rounds", s.rounds, "must be at least 3")
	case !(s.delta > 0 && s.delta < 1):
		return nil, fl.Invalid("--delta", s.delta, "must be in (0, 1)")
	case !(s.server.rate >= 0) || math.IsInf(s.server.rate, 1):
		return nil, fl.Invalid("--lr", s.server.rate, "must be finite and at least 0")
	case s.server.momentum != -1 && !(s.server.momentum >= 0 && s.server.momentum < 1):
		return nil, fl.Invalid("--momentum", s.server.momentum, "must be in [0, 1), or -1")
	case s.clients != 0 && s.clients < 2:
		return nil, fl.Invalid("--clients", s.clients, "must be at least 2, or 0")
	case !(s.skew >= 0 && s.skew <= maxConcentration):
		return nil, fl.Invalid("--skew", s.skew, "must be in (0, %g], or 0", float64(maxConcentration))
	case s.skew > 0 && s.clients == 0:
		return nil, fl.Invalid("--skew", s.skew, "needs --clients: one picture has one class")
	case !(s.dropout >= 0 && s.dropout <= 0.9):
		return nil, fl.Invalid("--dropout", s.dropout, "must be in [0, 0.9]")
	case s.server.averaging != -1 && !(s.server.averaging >= 0 && s.server.averaging < 1):
		return nil, fl.Invalid("--averaging", s.server.averaging, "must be in [0, 1), or -1")
	}
	locals, centrals := []float64{0.5, 1, 2, 4, 6, 8}, []float64{0.1, 0.25, 0.6, 1, 2, 4}
	s.repeats = env.RepeatsOr(3)
	options := dataset.Options{Source: env.Data, Classes: s.classes, Transpose: s.transpose, Seed: env.Seed}
	if env.Quick {
		options.TrainSize, options.TestSize = 6000, 1000
		s.rounds = min(s.rounds, 10)
		locals, centrals, s.repeats = []float64{1, 4}, []float64{1}, env.RepeatsOr(2)
	}
	if s.locals == nil {
		s.locals = locals
	}
	if s.centrals == nil {
		s.centrals = centrals
	}
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, err
	}
	if s.heldOut {
		data = heldOut(data)
	}
	return s.on(ctx, env, data)
}
