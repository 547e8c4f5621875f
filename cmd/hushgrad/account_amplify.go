package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privacy"
)

// digits is the number of digits of a printed ε.
const digits = 6

// amplified is the answer of account amplify.
type amplified struct {
	Mechanism      string  `json:"mechanism"`
	Epsilon        float64 `json:"epsilon"`
	Dim            int     `json:"dim,omitempty"`
	Sparsity       int     `json:"sparsity,omitempty"`
	Slots          int     `json:"slots,omitempty"`
	N              int     `json:"n"`
	Delta          float64 `json:"delta"`
	EpsilonCentral float64 `json:"epsilon_central"`
	// Least is the ε at Delta that no bound can be below; nil: none is known.
	Least    *float64 `json:"least,omitempty"`
	Bound    string   `json:"bound"`
	Relation string   `json:"relation"`
}

// amplifyFlags are the flags of account amplify.
type amplifyFlags struct {
	randomizer
	answerForms
	n                                  int
	delta, central, target, clientsFor float64
}

func newAmplify() *cobra.Command {
	return newJob("amplify [flags]", "central ε of shuffled reports, or what a central ε takes", `Bounds the central ε of n shuffled reports from above, and for coco and collision with many slots from
below: no accountant can promise less. Each report is ε-LDP, each client sends one, and the
relation is replace-one. The round is the one that hushgrad round
opens for the same flags. --epsilon-central asks for the δ at that ε.
--target asks for the largest local ε with that central ε, --clients-for for the smallest n.

  hushgrad account amplify --dim 7850 --epsilon 4 -n 60000
`, &amplifyFlags{})
}

func (q *amplifyFlags) bind(f *flag.FlagSet) {
	q.randomizer.bind(f)
	f.IntVarP(&q.n, "reports", "n", 1000, "number of reports that are shuffled together")
	f.Float64Var(&q.delta, "delta", 1e-6, "δ")
	f.Float64Var(&q.central, "epsilon-central", 0, "print the δ at this central ε")
	f.Float64Var(&q.target, "target", 0, "print the largest local ε with this central ε")
	f.Float64Var(&q.clientsFor, "clients-for", 0, "print the smallest n with this central ε")
	q.answerForms.bind(f)
}

func (q *amplifyFlags) validate(f *flag.FlagSet) error {
	switch {
	case q.n < 2 || q.n > fl.MaxReports:
		return fl.Invalid("--reports", q.n, "must be in [2, %d]", fl.MaxReports)
	case !(q.delta > 0 && q.delta < 1):
		return fl.Invalid("--delta", q.delta, "must be in (0, 1)")
	}
	// Each question finds one number, which then cannot be given.
	for _, question := range []struct {
		name   string
		value  float64
		unused []string
	}{
		{"target", q.target, []string{"epsilon", "clients-for", "epsilon-central"}},
		{"clients-for", q.clientsFor, []string{"reports", "epsilon-central"}},
		{"epsilon-central", q.central, nil},
	} {
		if !command.Given(f, question.name) {
			continue
		}
		if !(question.value > 0) || math.IsInf(question.value, 1) {
			return fl.Invalid("--"+question.name, question.value, "must be finite and > 0")
		}
		if err := command.Unused(f, "with --"+question.name, question.unused...); err != nil {
			return err
		}
	}
	if q.central > 0 && q.plot == "" {
		if err := command.Unused(f, "with --epsilon-central, which finds it", "delta"); err != nil {
			return err
		}
	}
	return cmp.Or(q.randomizer.validate(f), q.answerForms.validate())
}

// run answers the question.
func (q *amplifyFlags) run(ctx context.Context, std command.Streams) error {
	bar := progress.New(std.Err, "searching")
	answer, err := command.Await(ctx, func() (amplified, error) { return q.answer(ctx, bar) })
	bar.Close()
	if err != nil {
		return err
	}
	q.epsilon = answer.Epsilon
	if err := q.draw(ctx, func() (*figure.Figure, error) { return q.curves(ctx, q.delta, std.Err) }); err != nil {
		return err
	}
	return q.output.print(std.Out, answer, answer.print)
}

// watched is a bound whose evaluations are steps of a computation.
type watched struct {
	fl.Amplification
	progress plan.Progress
}

func (w watched) Epsilon(n int, delta float64) (float64, error) {
	defer w.progress.Step()
	return w.Amplification.Epsilon(n, delta)
}

func (w watched) Delta(n int, epsilonCentral float64) (float64, error) {
	defer w.progress.Step()
	return w.Amplification.Delta(n, epsilonCentral)
}

// What searches announce: about as many evaluations of a bound as they take.
const (
	evaluationsForLocal   = 20
	evaluationsForClients = 50
)

// localFor returns the largest local ε with that central ε. It is what is printed: a round that
// is opened with these digits keeps the central ε, too.
func (r randomizer) localFor(ctx context.Context, n int, delta, target float64, bar plan.Progress) (float64, error) {
	largest, err := privacy.LocalFor(ctx, func(epsilon float64) (fl.Amplification, error) {
		a, _, err := r.at(epsilon)
		return watched{a, bar}, err
	}, n, delta, target)
	if err != nil {
		return 0, err
	}
	for kept := digits; kept > 0; kept-- {
		printed := fl.RoundDown(largest, kept)
		a, _, err := r.at(printed) // with other slots, perhaps
		if err != nil {
			return 0, err
		}
		if central, err := a.Epsilon(n, delta); err != nil || central <= target {
			return printed, err
		}
	}
	return largest, nil
}

// answer computes what was asked.
func (q *amplifyFlags) answer(ctx context.Context, bar plan.Progress) (answer amplified, err error) {
	r, n, delta := q.randomizer, q.n, q.delta
	if q.target > 0 {
		bar.Grow(evaluationsForLocal)
		if r.epsilon, err = r.localFor(ctx, n, delta, q.target, bar); err != nil {
			return answer, err
		}
	}
	a, slots, err := r.at(r.epsilon)
	if err != nil {
		return answer, err
	}
	if q.clientsFor > 0 {
		bar.Grow(evaluationsForClients)
		if n, err = privacy.ClientsFor(ctx, watched{a, bar}, q.clientsFor, delta); err != nil {
			return answer, err
		}
	}
	answer = amplified{
		Mechanism: r.mechanism, Epsilon: r.epsilon, Slots: slots, N: n, Delta: delta,
		EpsilonCentral: q.central, Bound: boundName(a), Relation: fl.ReplaceOne.String(),
	}
	if slots > 0 {
		answer.Sparsity, answer.Dim = r.sparsity, r.dim
	}
	if q.central > 0 {
		answer.Delta, err = a.Delta(n, q.central)
		return answer, err
	}
	if answer.EpsilonCentral, err = a.Epsilon(n, delta); err != nil {
		return answer, err
	}
	answer.Least, err = r.least(slots, n, delta)
	return answer, err
}

// apart is how many clients' slots, in units of the sparsity, a mechanism needs for a lower bound: the slots of two neighbours and of
// one other client. CoCo's slots come in pairs, and its neighbours have the same ones with opposite signs.
var apart = map[string]int{collision.Name: 3, coco.Name: 4}

// leastMargin is far above the error with which the curve of the lower bound is computed.
const leastMargin = 1e-6

// least is the central ε that no bound can be below, rounded down, or nil where none is known.
func (r randomizer) least(slots, n int, delta float64) (*float64, error) {
	if need, ok := apart[r.mechanism]; !ok || slots < need*r.sparsity {
		return nil, nil
	}
	c, err := privacy.Least(r.epsilon, r.sparsity, slots)
	if err != nil {
		return nil, err
	}
	epsilon, err := c.Curve(n, delta)
	epsilon *= 1 - leastMargin
	return &epsilon, err
}

// worst says how far the upper bound may be from what is true.
func (a amplified) worst() string {
	if a.Least == nil {
		return "No lower bound is known for these numbers."
	}
	return fmt.Sprintf("Lower bound: ε = %s. Two neighbours have it where no other client has their slots.", fl.FormatDown(*a.Least, digits))
}

func (a amplified) print(w io.Writer) error {
	mechanism := a.Mechanism
	if a.Slots > 0 {
		mechanism += fmt.Sprintf(", s = %d, t = %d", a.Sparsity, a.Slots)
	}
	return printWords(w,
		plan.Words{About: "mechanism", Text: []string{mechanism}},
		plan.Words{About: "local privacy", Text: []string{fmt.Sprintf("ε = %s, δ = 0 for one report: against everybody, the server included", fl.FormatUp(a.Epsilon, digits))}},
		plan.Words{About: "shuffled reports", Text: []string{fmt.Sprintf("%d, one per client", a.N)}},
		plan.Words{About: "central privacy", Text: []string{
			fmt.Sprintf("ε = %s, δ = %s, %s, by the %s (an upper bound)", fl.FormatUp(a.EpsilonCentral, digits), fl.FormatUp(a.Delta, 3), a.Relation, a.Bound),
			a.worst(),
			"It holds against anyone who sees only the shuffled reports, as a server behind a shuffler.",
			"This assumes an honest shuffler. Against shuffler and server together only the local one holds.",
		}},
	)
}
