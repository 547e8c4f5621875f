package plan

import (
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/hdsum/shares"
	"github.com/hushgrad/hushgrad/internal/command"
)

// Flags adds the flags of a request to a command, so that all commands ask the same question
// with the same defaults. What is no flag is left to the command: the dimension, the norms,
// the seed and MaxLearningRate. check is called after the flags are parsed. It returns a
// *fl.ParamError for a flag that was given and that the mechanism ignores, and for one with a
// value that it must not have.
func Flags(f *flag.FlagSet) (q *Request, check func() error) {
	q = &Request{Mechanism: auto.Name}
	mechanisms := append([]string{auto.Name}, planned()...)
	mechanisms = append(mechanisms, hdsum.Name, shares.Name, dense.Name)
	command.OneOf(f, &q.Mechanism, "mechanism", "", mechanisms, "auto, coco, collision, signsketch, sumdp, sumdp-shares or none")
	f.Float64Var(&q.Epsilon, "epsilon", 0, "ε of one report: local, or central with sumdp and sumdp-shares; 0: the largest that -budget allows; 1 with these two and no -budget")
	f.Float64Var(&q.MaxEpsilon, "max-epsilon", 0, "largest ε of one report that may be planned; 0: only -budget limits it")
	f.Float64Var(&q.Budget, "budget", 0, "central ε of the whole run at -delta, after which it ends; 0: none, or 1 where -epsilon is not given either")
	f.Float64Var(&q.Delta, "delta", 1e-6, "δ at which the central ε is stated")
	f.IntVar(&q.Clients, "clients", 60000, "number of clients, which take part in turn")
	f.IntVar(&q.Cohort, "cohort", 0, "clients of a round; 0: planned")
	f.IntVar(&q.Rounds, "rounds", 0, "rounds; the guarantees of a client's reports compose; 0: 30, or 10 with sumdp and sumdp-shares")
	f.IntVar(&q.Sparsity, "sparsity", 0, "signed coordinates per client before the randomizer, s; 0: planned")
	f.Float64Var(&q.Clip, "clip", 0, "norm to which a client's gradient is clipped: L1, or L2 with sumdp and sumdp-shares; 0: planned")
	f.Float64Var(&q.LearningRate, "lr", 0, "learning rate of the server; 0: planned")
	return q, func() error {
		if err := command.Unused(f, "with -mechanism "+q.Mechanism+", which ignores it", ignored[q.Mechanism]...); err != nil {
			return err
		}
		return q.validate()
	}
}

// ignored are the flags that have no meaning for a mechanism, the demo's flags included.
var ignored = map[string][]string{
	dense.Name:  {"epsilon", "max-epsilon", "budget", "delta", "sparsity", "clip", "explain"},
	hdsum.Name:  {"max-epsilon", "sparsity", "explain"},
	shares.Name: {"max-epsilon", "sparsity", "explain"},
}
