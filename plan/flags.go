package plan

import (
	"cmp"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/mechanisms"
)

// Flags adds the flags of a request to a command, so that all commands ask the same question
// with the same defaults. What is no flag is left to the command: the dimension, the norms,
// the seed and MaxLearningRate. check is called after the flags are parsed. It returns a
// *fl.ParamError for a flag that was given and that the mechanism ignores, and for one with a
// value that it must not have.
func Flags(f *flag.FlagSet) (q *Request, check func() error) {
	q = &Request{Mechanism: mechanisms.Auto}
	names := append([]string{mechanisms.Auto}, planned()...)
	names = append(names, hdsum.Name, hdsum.SharesName, baseline.None)
	command.OneOf(f, &q.Mechanism, "mechanism", "", names, "auto, coco, collision, signsketch, privunit, sumdp, gaussian-shares or none")
	f.Float64Var(&q.Epsilon, "epsilon", 0, "ε of one report: local, or central with sumdp and gaussian-shares; 0: the largest that --budget allows; 1 with these two, clients without records and no --budget")
	f.Float64Var(&q.MaxEpsilon, "max-epsilon", 0, "largest ε of one report that may be planned; 0: only --budget limits it")
	command.OneOf(f, (*string)(&q.Trust), "trust", "", trusts(), "whom the clients trust: nobody, own-site, shuffler or two-servers; empty: what the mechanism needs, and otherwise own-site where clients are sites with records, and nobody where not")
	command.OneOf(f, &q.Proof, "proof", "", []string{hdsum.ProofPrio3}, "prio3: with --trust two-servers, each client proves that its gradient is short; empty: no proof")
	f.Float64Var(&q.Budget, "budget", 0, "ε of everything that a client sends in the run, after which it ends: local with --trust nobody, local at --delta with own-site, otherwise central at --delta; 0: none, or where --epsilon is not given either 4 with --trust nobody, twice --honest-budget, and 1 otherwise")
	f.Float64Var(&q.OwnBudget, "own-budget", 0, "with --trust two-servers, ε of everything that a client sends in the run against both servers together, at --delta: each client adds noise for it; 0: no such promise")
	f.Float64Var(&q.HonestBudget, "honest-budget", 0, "with --trust two-servers, ε of everything that a client sends in the run against either server if the share --honest of each round's clients is honest, at --delta: each client adds a part of the noise, and --budget, which is larger, holds without honest clients; 0: clients add none")
	f.Float64Var(&q.Honest, "honest", 0, "share of honest clients that --honest-budget counts on; 0: 0.9")
	f.Float64Var(&q.Delta, "delta", 1e-6, "δ at which ε is stated, but for a local ε with --trust nobody")
	f.IntVar(&q.Clients, "clients", 60000, "number of clients, which take part in turn")
	f.IntVar(&q.Cohort, "cohort", 0, "clients of a round; 0: planned")
	f.IntVar(&q.Rounds, "rounds", 0, "rounds; the guarantees of a client's reports compose; 0: 30, and other numbers in three cases: 10 with sumdp; with --trust nobody at most 16, or 60 for softmax regression that starts from zeros; for a shuffler and softmax regression that starts from zeros, as many from 30 to 120 as a rehearsal on public examples finds worth it")
	f.IntVar(&q.Sparsity, "sparsity", 0, "signed coordinates per client before the randomizer, s; 0: planned")
	f.Float64Var(&q.Clip, "clip", 0, "norm to which a client's gradient is clipped: L1, or L2 with sumdp, gaussian-shares and --trust own-site; 0: planned")
	f.Float64Var(&q.LearningRate, "lr", 0, "learning rate of the server; 0: planned")
	f.BoolVar(&q.Force, "force", false, "plan a run whose noise is above its signal, too")
	return q, func() error {
		q.Trust = cmp.Or(q.Trust, q.defaultTrust())
		if err := command.Unused(f, "with --mechanism "+q.Mechanism+", which ignores it", ignored[q.Mechanism]...); err != nil {
			return err
		}
		q.withoutHonest()
		return OfFlag(f, q.validate())
	}
}

// OfFlag returns an error about a field of a Request as an error about its flag, and any other error as it is.
func OfFlag(f *flag.FlagSet, err error) error {
	return command.OfFlag(f, err, map[string]string{"learning rate": "lr"})
}

// trusts are the values of --trust.
func trusts() (names []string) {
	for _, t := range Trusts() {
		names = append(names, string(t))
	}
	return names
}

// ignored are the flags that have no meaning for a mechanism, the demo's flags included.
var ignored = map[string][]string{
	baseline.None:    {"trust", "epsilon", "max-epsilon", "budget", "delta", "sparsity", "clip", "explain"},
	hdsum.Name:       {"max-epsilon", "sparsity", "explain"},
	hdsum.SharesName: {"max-epsilon", "sparsity", "explain"},
}
