package shufflesum

import (
	"context"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// budget is what a table is made for.
type budget struct {
	relation fl.Relation
	epsilon  float64
}

// zeroOut makes an experiment the paper's: its errors hold for that relation.
var zeroOut = []string{"--relation", "zero-out"}

// bindBudget adds --relation and --epsilon, whose default is the paper's, and returns a run that
// is given the two.
func bindBudget(f *flag.FlagSet, paper float64, run func(context.Context, experiment.Env, budget) (*experiment.Result, error)) experiment.Run {
	relation := experiment.RelationFlag(f, fl.ReplaceOne)
	epsilon := f.Float64("epsilon", paper, "central privacy budget ε; the default is the paper's")
	return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
		if err := experiment.CheckEpsilon(*epsilon); err != nil {
			return nil, err
		}
		return run(ctx, env, budget{*relation, *epsilon})
	}
}
