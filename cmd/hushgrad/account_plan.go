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

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

// planned is the answer of account plan: what the demo would run, and what it was compared
// with.
type planned struct {
	*plan.Run
	plan.Promise
	Feasible   bool               `json:"feasible"` // true: see infeasible
	Considered []plan.Alternative `json:"considered"`
	// Trusts is what the same budget is worth with every trust; null where a report's ε was given.
	Trusts []plan.Row `json:"trusts"`
	// TenTimes is what to expect with ten times as many clients; null where nothing was rehearsed.
	TenTimes *plan.Expected  `json:"ten_times_the_clients"`
	choice   *dataset.Choice // nil: the features were given
	model    plan.Words
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
		reach = fmt.Sprintf("--clients %d, within 1 %%,", *i.ClientsNeeded)
	}
	return fmt.Errorf("--error %g is %w: the least error of %d clients is %.3g; %s would reach it. A larger --budget and fewer --rounds lower the error",
		i.MaxError, plan.ErrInfeasible, i.Clients, i.Error, reach)
}

// planFlags are the flags of account plan.
type planFlags struct {
	answerForms
	request  *plan.Request
	check    func() error // of the request
	task     *task
	maxError float64
	flags    *flag.FlagSet
	unit     plan.Unit
	sites    int
	records  int
}

func newPlan() *cobra.Command {
	q := &planFlags{}
	c := newCommand("plan [flags]", "mechanism and parameters for a central budget and an error", `Plans a training run from public numbers, as examples/mnist does: mechanism, rounds, ε of a
report, slots, shape and learning rate. With --error there is no plan whose error is larger: the
command says how many clients would reach the error, and ends with exit code 1. An error is
the root mean square per coordinate of one round's mean, in units of τ. A client's coordinates
are at most 1 in these units. --plot draws the errors against the number of clients.

The expected accuracy is found by rehearsing the planned run on public pictures, with noise of the planned size: for any number of
clients, any trust and all --features. A single run is within its interval 95 times in 100 on pictures of the same kind. Other
pictures are learned better or worse.

The last table compares whom clients may trust: with the same budget, the error of each, and against
whom each ε holds. With --unit record a budget protects one person's record at a site that holds many, as a
hospital does: each site sends sums of its records, with noise of its own or by two servers (--trust two-servers).

  hushgrad account plan --clients 60000 --budget 4
  hushgrad account plan --trust shuffler --rounds 30 --budget 0.5
  hushgrad account plan --unit record --sites 12 --records 120000 --budget 2
`, func(ctx context.Context, _ []string, std command.Streams) error {
		if err := q.validate(); err != nil {
			return err
		}
		return plan.OfFlag(q.flags, q.plan(ctx, std))
	})
	q.bind(c.Flags())
	return c
}

func (q *planFlags) bind(f *flag.FlagSet) {
	q.flags = f
	q.request, q.check = plan.Flags(f)
	f.Float64Var(&q.request.Liars, "liars", 0, "share of clients that lie, in [0, 0.5), which the plan counts on: it weighs how far they move the mean beside the noise")
	f.BoolVar(&q.request.Quick, "quick", false, "rehearse with a fourth of the pictures in each round: faster, and a little less sure")
	q.task = bindTask(f)
	f.Float64Var(&q.maxError, "error", 0, "error that is acceptable, of the best sparse mechanism and in units of τ; 0: any")
	q.unit = plan.Client
	command.OneOf(f, &q.unit, "unit", "", []plan.Unit{plan.Client, plan.Record}, "what the budget protects: client, all data of a client; record, one of the records that --sites hold")
	f.IntVar(&q.sites, "sites", 0, "with --unit record: number of sites")
	f.IntVar(&q.records, "records", 0, "with --unit record: number of records of all sites together")
	q.answerForms.bind(f)
}

// compares says that the table is the whole answer: no run of this module is planned for a trusted server.
func (q *planFlags) compares() bool { return q.request.Trust == plan.Server }

func (q *planFlags) validate() error {
	records := q.unit == plan.Record
	switch {
	case !records && (q.sites != 0 || q.records != 0):
		return fl.Invalid("--unit", string(q.unit), "must be %s with --sites and --records: type --unit %[1]s", plan.Record)
	case records && (q.sites == 0 || q.records == 0):
		return fl.Invalid("--sites and --records", fmt.Sprintf("%d and %d", q.sites, q.records), "are required with --unit %s: type --sites 12 --records 120000", plan.Record)
	case records:
		if err := command.Unused(q.flags, "with --unit record: --sites says it", "clients"); err != nil {
			return err
		}
		q.request.Clients, q.request.Records = q.sites, q.records
	}
	check := q.check
	if q.compares() {
		check = func() error { return nil } // Compare checks what it needs
	}
	if err := cmp.Or(check(), q.task.validate(), q.answerForms.validate()); err != nil {
		return err
	}
	if (q.compares() || q.unit == plan.Record) && (q.maxError > 0 || q.plot != "") {
		return fl.Invalid("--error and --plot", string(q.request.Trust), "must not be given with --unit %s, and where only trusts are compared", plan.Record)
	}
	if !(q.maxError >= 0) || math.IsInf(q.maxError, 1) {
		return fl.Invalid("--error", q.maxError, "must be finite and at least 0")
	}
	if q.maxError > 0 || q.plot != "" {
		if r := q.request; r.Mechanism != mechanisms.Auto || r.Epsilon != 0 || r.Cohort != 0 {
			return fl.Invalid("--error and --plot", r.Mechanism, "must be asked with --mechanism %s, and without --epsilon and --cohort", mechanisms.Auto)
		}
	}
	return nil
}

// plan answers the question.
func (q *planFlags) plan(ctx context.Context, std command.Streams) error {
	bar := progress.New(std.Err, "planning")
	q.request.Progress = bar
	defer bar.Close()
	question, choice, err := q.task.of(ctx, *q.request, bar)
	if err != nil {
		return err
	}
	if q.compares() {
		return q.compare(ctx, std, question, bar)
	}
	run, err := question.Run(ctx)
	if err == nil && run.Sparsity == 0 && (q.maxError > 0 || q.plot != "") { // the unit τ is the sparse mechanisms'
		question.Mechanism = coco.Name
		run, err = question.Run(ctx)
	}
	if errors.Is(err, plan.ErrNoise) {
		bar.Describe("comparing trusts")
		return q.noisy(ctx, std, question, err, bar)
	}
	if err != nil {
		return err
	}
	answer := planned{Run: run, choice: choice, model: q.task.words(run.Dim), Feasible: true}
	if run.Budget > 0 && question.Epsilon == 0 {
		question.Budget = run.Budget
		if answer.Trusts, err = question.Compare(ctx); err != nil {
			return err
		}
		if answer.TenTimes, err = tenTimes(ctx, question); err != nil {
			return err
		}
	}
	if answer.Promise, err = run.Promise(ctx, run.Affordable); err != nil {
		return err
	}
	if s := run.Schedule; s != nil {
		answer.Considered = s.Considered
		d := plan.Demand{
			Dim: run.Dim, Sparsity: run.Sparsity, Clients: q.request.Clients, Rounds: run.Rounds, Participations: s.Participations,
			Epsilon: run.Budget, Delta: q.request.Delta, EpsilonLocal: q.request.MaxEpsilon,
		}
		if run.Trust == plan.Nobody {
			d.Epsilon, d.EpsilonLocal = 0, s.EpsilonLocal
		}
		if q.maxError > 0 && s.Error > q.maxError {
			bar.Describe("counting clients")
			return q.refuse(ctx, std, d, s.Error, bar)
		}
		if err := q.draw(ctx, func() (*figure.Figure, error) { return planCurve(ctx, d) }); err != nil {
			return err
		}
	}
	bar.Close()
	return q.output.print(std.Out, answer, func(w io.Writer) error { return answer.print(ctx, w) })
}

// tenTimes rehearses the run with ten times as many clients, who hold as much as the others. The result is nil without public examples, and
// where there is no such run.
func tenTimes(ctx context.Context, q plan.Request) (*plan.Expected, error) {
	if q.Examples == nil || max(q.Clients, q.Records) > fl.MaxReports/10 {
		return nil, nil
	}
	q.Force = true
	if q.Records > 0 {
		q.Records *= 10
	} else {
		q.Clients, q.Cohort = 10*q.Clients, 10*q.Cohort
	}
	run, err := q.Run(ctx)
	if err != nil {
		return nil, ctx.Err()
	}
	return run.Expected, nil
}

func (p planned) print(ctx context.Context, w io.Writer) error {
	if err := p.model.Print(w); err != nil {
		return err
	}
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
	if p.Trusts == nil {
		return nil
	}
	fmt.Fprintln(w)
	if err := plan.PrintRows(w, p.Trusts, p.Run.Unit); err != nil || p.TenTimes == nil {
		return err
	}
	_, err := fmt.Fprintf(w, "ten times as many %ss are expected to reach %.3f, with the same trust and budget.\n", p.Run.Unit, p.TenTimes.Accuracy)
	return err
}

// compared is the answer where only trusts are compared.
type compared struct {
	Unit   plan.Unit  `json:"unit"`
	Trusts []plan.Row `json:"trusts"`
}

// compare answers by the table alone.
func (q *planFlags) compare(ctx context.Context, std command.Streams, question plan.Request, bar *progress.Bar) error {
	rows, err := question.Compare(ctx)
	if err != nil {
		return err
	}
	bar.Close()
	return q.output.print(std.Out, compared{q.unit, rows}, func(w io.Writer) error { return plan.PrintRows(w, rows, q.unit) })
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

// noisy says why a run is refused, and what the same budget is worth with every trust.
func (q *planFlags) noisy(ctx context.Context, std command.Streams, question plan.Request, refused error, bar *progress.Bar) error {
	if q.task.dim == 0 {
		refused = fmt.Errorf("%w. The model is one of pictures. A table's model is planned by go run ./examples/tabular --explain, and another one by --dim, --l1 and --l2", refused)
	}
	if question.Epsilon != 0 {
		return refused
	}
	question.Budget = cmp.Or(question.Budget, question.Trust.DefaultBudget())
	rows, err := question.Compare(ctx)
	if err != nil {
		return errors.Join(refused, err)
	}
	bar.Close()
	answer := compared{Unit: q.unit, Trusts: rows}
	return errors.Join(q.output.print(std.Out, answer, func(w io.Writer) error { return plan.PrintRows(w, rows, q.unit) }), refused)
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
