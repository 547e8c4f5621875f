package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
)

// planned is the answer of account plan: what the demo would run, and what it was compared
// with.
type planned struct {
	*plan.Run
	plan.Promise
	Feasible   bool               `json:"feasible"` // true: see infeasible
	Considered []plan.Alternative `json:"considered"`
	// Expected is null where nothing was measured.
	Expected *plan.Expected `json:"expected_accuracy"`
	choice   *plan.Choice   // nil: the features were given
}

// infeasible is the answer where no plan has an error that is small enough.
type infeasible struct {
	Feasible bool    `json:"feasible"` // false
	MaxError float64 `json:"max_error"`
	// Error is the best plan's.
	Error   float64 `json:"error"`
	Clients int     `json:"clients"`
	// ClientsNeeded is the number of clients with which a plan has the error, within 1 %. It is null where fl.MaxReports are
	// not enough.
	ClientsNeeded *int `json:"clients_needed"`
}

func (i infeasible) err() error {
	reach := fmt.Sprintf("more than %d clients", fl.MaxReports)
	if i.ClientsNeeded != nil {
		reach = fmt.Sprintf("-clients %d, within 1 %%,", *i.ClientsNeeded)
	}
	return fmt.Errorf("-error %g is %w: the least error of %d clients is %.3g; %s would reach it. A larger -budget and fewer -rounds lower the error",
		i.MaxError, plan.ErrInfeasible, i.Clients, i.Error, reach)
}

// planFlags are the flags of account plan.
type planFlags struct {
	answerForms
	request  *plan.Request
	check    func() error // of the request
	task     *task
	maxError float64
}

func newPlan() *cobra.Command {
	q := &planFlags{}
	c := newCommand("plan [flags]", "mechanism and parameters for a central budget and an error", `Plans a training run from public numbers, as examples/mnist does: mechanism, rounds, ε of a
report, slots, shape and learning rate. With -error there is no plan whose error is larger: the
command says how many clients would reach the error, and ends with exit code 1. An error is
the root mean square per coordinate of one round's mean, in units of τ. A client's coordinates
are at most 1 in these units. -plot draws the errors against the number of clients. The accuracy of examples/mnist is known where it was measured:
for these -features, other budgets and δ, and nothing else changed.

  hushgrad account plan -clients 60000 -rounds 30 -budget 0.5
`, func(ctx context.Context, _ []string, std command.Streams) error {
		if err := q.validate(); err != nil {
			return err
		}
		return q.plan(ctx, std)
	})
	q.bind(c.Flags())
	return c
}

func (q *planFlags) bind(f *flag.FlagSet) {
	q.request, q.check = plan.Flags(f)
	q.task = bindTask(f)
	f.Float64Var(&q.maxError, "error", 0, "error that is acceptable; 0: any")
	q.answerForms.bind(f)
}

func (q *planFlags) validate() error {
	if err := cmp.Or(q.check(), q.task.validate(), q.answerForms.validate()); err != nil {
		return err
	}
	if !(q.maxError >= 0) || math.IsInf(q.maxError, 1) {
		return fl.Invalid("-error", q.maxError, "must be finite and at least 0")
	}
	if q.maxError > 0 || q.plot != "" {
		if r := q.request; r.Mechanism != auto.Name || r.Epsilon != 0 || r.Cohort != 0 {
			return fl.Invalid("-error and -plot", r.Mechanism, "must be asked with -mechanism %s, and without -epsilon and -cohort", auto.Name)
		}
	}
	return nil
}

// plan answers the question.
func (q *planFlags) plan(ctx context.Context, std command.Streams) error {
	bar := progress.New(std.Err)
	bar.Describe("planning")
	q.request.Progress = bar
	defer bar.Close()
	question, choice, err := q.task.of(ctx, *q.request)
	if err != nil {
		return err
	}
	run, err := question.Run(ctx)
	if err != nil {
		return err
	}
	answer := planned{Run: run, choice: choice, Feasible: true, Expected: run.Expected}
	if answer.Promise, err = run.Promise(ctx, run.Affordable); err != nil {
		return err
	}
	if s := run.Schedule; s != nil {
		answer.Considered = s.Considered
		d := plan.Demand{
			Dim: run.Dim, Sparsity: run.Sparsity, Clients: q.request.Clients, Rounds: run.Rounds, Participations: s.Participations,
			Epsilon: run.Budget, Delta: q.request.Delta, EpsilonLocal: q.request.MaxEpsilon,
		}
		if q.maxError > 0 && s.Error > q.maxError {
			bar.Describe("counting clients")
			return q.refuse(ctx, std, d, s.Error, bar)
		}
		if q.plot != "" {
			figure, err := planCurve(ctx, d)
			if err != nil {
				return err
			}
			if err := writePlot(q.plot, figure); err != nil {
				return err
			}
		}
	}
	bar.Close()
	return q.output.print(std.Out, answer, func(w io.Writer) error { return answer.print(ctx, w) })
}

func (p planned) print(ctx context.Context, w io.Writer) error {
	if p.choice != nil {
		if err := p.choice.Explain(w); err != nil {
			return err
		}
	}
	if err := p.PrintStart(w, true); err != nil {
		return err
	}
	if _, err := p.PrintEnd(ctx, w, p.Affordable); err != nil {
		return err
	}
	expected := "nothing was measured for this question"
	if p.Expected != nil {
		expected = fmt.Sprintf("%v", p.Expected)
	}
	return plan.Words{About: "expected accuracy", Text: []string{"of the demo: " + expected}}.Print(w)
}

// refuse says how many clients reach the error that was asked for. JSON has that, too. Text is the error alone.
func (q *planFlags) refuse(ctx context.Context, std command.Streams, d plan.Demand, least float64, bar *progress.Bar) error {
	answer := infeasible{MaxError: q.maxError, Error: least, Clients: d.Clients}
	n, err := d.ClientsFor(ctx, q.maxError)
	switch {
	case err == nil:
		answer.ClientsNeeded = &n
	case !errors.Is(err, plan.ErrInfeasible):
		return err
	}
	bar.Close()
	return errors.Join(q.output.print(std.Out, answer, func(io.Writer) error { return nil }), answer.err())
}

// planCurve draws the error of each mechanism against the number of clients.
func planCurve(ctx context.Context, d plan.Demand) (*figure.Figure, error) {
	series := map[string]*figure.Series{}
	var order []string
	for step := -4; step <= 8; step++ {
		at := d
		at.Clients = int(float64(d.Clients) * math.Pow(2, float64(step)/2))
		if at.Clients > fl.MaxReports || at.Clients*at.Participations/at.Rounds < 2 {
			continue
		}
		plans, err := plan.Plans(ctx, at)
		if err != nil {
			return nil, err
		}
		for _, p := range plans {
			s, ok := series[p.Mechanism]
			if !ok {
				s = &figure.Series{Name: p.Mechanism, Style: figure.LinePoints}
				series[p.Mechanism] = s
				order = append(order, p.Mechanism)
			}
			s.X, s.Y = append(s.X, float64(at.Clients)), append(s.Y, p.Error)
		}
	}
	panel := figure.Panel{
		Title: fmt.Sprintf("central ε = %g, δ = %g", d.Epsilon, d.Delta), XLabel: "clients", YLabel: "error per coordinate, units of τ", LogX: true, LogY: true,
	}
	for _, name := range order {
		panel.Series = append(panel.Series, *series[name])
	}
	return &figure.Figure{Panels: []figure.Panel{panel}}, nil
}
