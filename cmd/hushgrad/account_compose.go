package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privacy"
)

// composed is the answer of account compose.
type composed struct {
	Events []privacy.Event `json:"events"`
	Count  int             `json:"count"`
	Delta  float64         `json:"delta"`
	// Epsilon is an upper bound, above the exact value of the events' curves by at
	// most Error.
	Epsilon float64 `json:"epsilon"`
	Error   float64 `json:"error"`
	// The classical bounds, null where they say nothing.
	Basic    *float64 `json:"epsilon_basic"`
	Advanced *float64 `json:"epsilon_advanced"`
	Optimal  *float64 `json:"epsilon_optimal"`
}

// eventFlags describe one kind of event.
type eventFlags struct {
	file  string
	event privacy.Event
	kind  privacy.Kind
	flags *flag.FlagSet
}

func newCompose() *cobra.Command {
	return newJob("compose [flags]", "what several reports of one client promise together", `Bounds from above what several reports of one client promise together, at --delta. The
bound comes from privacy-loss distributions and is printed with its numerical error.
For pure and approximate reports basic, advanced and optimal homogeneous composition
stand beside it. Reports may depend on earlier ones through the model. Their budgets
are fixed in advance. Count the rounds in which a client may be asked: rounds that
leave it out by chance do not make the guarantee stronger.

  hushgrad account compose --epsilon 0.5 --count 30
`, &composeFlags{})
}

// composeFlags are the flags of account compose.
type composeFlags struct {
	answerForms
	given eventFlags
	delta float64
}

func (q *composeFlags) bind(f *flag.FlagSet) {
	q.given.bind(f)
	f.Float64Var(&q.delta, "delta", 1e-6, "δ of the composition")
	q.answerForms.bind(f)
}

func (q *composeFlags) validate(f *flag.FlagSet) error {
	if !(q.delta > 0 && q.delta < 1) {
		return fl.Invalid("--delta", q.delta, "must be in (0, 1)")
	}
	return cmp.Or(q.given.validate(f), q.answerForms.validate())
}

func (e *eventFlags) bind(f *flag.FlagSet) {
	e.flags = f
	f.StringVar(&e.file, "events", "", "JSON `file` with a list of events, as -o json prints them, instead of the flags below; - is stdin")
	e.kind = privacy.KindPure
	kinds := []privacy.Kind{privacy.KindPure, privacy.KindApproximate, privacy.KindGaussian, privacy.KindDiscreteLaplace, privacy.KindShuffled}
	command.OneOf(f, &e.kind, "kind", "", kinds, "pure, approximate, gaussian, discrete-laplace or shuffled")
	f.IntVar(&e.event.Count, "count", 1, "how often a client takes part")
	f.Float64Var(&e.event.Epsilon, "epsilon", 0, "pure, approximate: ε of one report; shuffled: its local ε")
	f.Float64Var(&e.event.Delta, "delta-each", 0, "approximate: δ of one report")
	f.Float64Var(&e.event.Sigma, "sigma", 0, "gaussian: standard deviation per unit of sensitivity")
	f.Float64Var(&e.event.Eta, "eta", 0, "discrete-laplace: decay per unit of the noise")
	f.IntVar(&e.event.Shift, "shift", 0, "discrete-laplace: sensitivity")
	f.IntVar(&e.event.Sparsity, "sparsity", 0, "shuffled: entries of a ternary vector, s")
	f.IntVar(&e.event.Slots, "slots", 0, "shuffled: output size t")
	f.IntVarP(&e.event.Clients, "reports", "n", 0, "shuffled: reports that are shuffled together in a round")
}

// kindFlags are the flags that describe an event of a kind.
var kindFlags = map[privacy.Kind][]string{
	privacy.KindPure:            {"epsilon"},
	privacy.KindApproximate:     {"epsilon", "delta-each"},
	privacy.KindGaussian:        {"sigma"},
	privacy.KindDiscreteLaplace: {"eta", "shift"},
	privacy.KindShuffled:        {"epsilon", "sparsity", "slots", "reports"},
}

// validate refuses flags that describe no event of the kind, or any event beside a file.
func (e *eventFlags) validate(f *flag.FlagSet) error {
	if e.file != "" {
		return command.Unused(f, "with --events", "kind", "count", "epsilon", "delta-each", "sigma", "eta", "shift", "sparsity", "slots", "reports")
	}
	used := kindFlags[e.kind]
	var others []string
	for _, names := range kindFlags {
		others = append(others, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(used, name) })...)
	}
	slices.Sort(others)
	return command.Unused(f, "with --kind "+string(e.kind), others...)
}

// read returns the events of the flags or of the file.
func (e *eventFlags) read(stdin io.Reader) ([]privacy.Event, error) {
	if e.file == "" {
		e.event.Kind = e.kind
		return []privacy.Event{e.event}, nil
	}
	in, err := openInput("--events", e.file, stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var events []privacy.Event
	decoder := json.NewDecoder(io.LimitReader(in, 1<<24))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&events); err != nil {
		return nil, fl.Invalid("--events", err.Error(), "must be a JSON list of events")
	}
	return events, nil
}

// ofFlag returns an error about an event as an error about the flag that describes it.
func (e *eventFlags) ofFlag(err error) error {
	if e.file != "" {
		return err
	}
	return command.OfFlag(e.flags, err, map[string]string{"events[0].count": "count", "delta": "delta-each", "clients": "reports"})
}

// run answers the question.
func (q *composeFlags) run(ctx context.Context, std command.Streams) error {
	events, err := q.given.read(std.In)
	if err != nil {
		return err
	}
	loss, err := privacy.Compose(ctx, events, privacy.Options{})
	if err != nil {
		return q.given.ofFlag(err)
	}
	bounds, err := loss.Epsilon(ctx, q.delta)
	if err != nil {
		return err
	}
	answer := composed{Events: events, Count: loss.Count(), Delta: q.delta, Epsilon: bounds.Upper, Error: bounds.Error()}
	answer.classical()
	if err := q.draw(ctx, func() (*figure.Figure, error) { return lossCurve(ctx, loss, bounds.Upper, std.Err) }); err != nil {
		return err
	}
	return q.output.print(std.Out, answer, answer.print)
}

// classical fills the bounds that know only (ε, δ) of one kind of report.
func (c *composed) classical() {
	e := c.Events[0]
	if len(c.Events) > 1 || e.Kind != privacy.KindPure && e.Kind != privacy.KindApproximate {
		return
	}
	keep := func(epsilon, delta float64, err error) *float64 {
		if err != nil || delta > c.Delta {
			return nil
		}
		return &epsilon
	}
	c.Basic = keep(privacy.BasicComposition(e.Epsilon, e.Delta, e.Count))
	if slack := c.Delta - float64(e.Count)*e.Delta; slack > 0 {
		c.Advanced = keep(privacy.AdvancedComposition(e.Epsilon, e.Delta, slack*(1-1e-12), e.Count))
	}
	optimal, err := privacy.Homogeneous{Epsilon: e.Epsilon, Delta: e.Delta, Count: e.Count}.EpsilonAt(c.Delta)
	c.Optimal = keep(optimal, c.Delta, err)
}

func (c composed) print(w io.Writer) error {
	reports := fmt.Sprint(c.Count)
	if len(c.Events) > 1 {
		reports += fmt.Sprintf(", of %d kinds", len(c.Events))
	}
	all := []plan.Words{
		{About: "reports", Text: []string{reports}},
		{About: "together", Text: []string{
			fmt.Sprintf("ε = %s, δ = %s", fl.FormatUp(c.Epsilon, 6), fl.FormatUp(c.Delta, 3)),
			fmt.Sprintf("It is an upper bound, too large by at most %s.", fl.FormatUp(c.Error, 1)),
		}},
	}
	for _, other := range []struct {
		name  string
		value *float64
	}{{"optimal, (ε, δ)", c.Optimal}, {"advanced", c.Advanced}, {"basic", c.Basic}} {
		if other.value != nil {
			all = append(all, plan.Words{About: other.name, Text: []string{"ε = " + fl.FormatUp(*other.value, 6)}})
		}
	}
	return printWords(w, all...)
}

// lossCurve draws δ against ε.
func lossCurve(ctx context.Context, loss *privacy.Distribution, epsilon float64, stderr io.Writer) (*figure.Figure, error) {
	const points = 61
	bar := progress.New(stderr, "drawing")
	bar.Grow(points)
	defer bar.Close()
	s := figure.Series{Name: "upper bound", Style: figure.Line}
	for i := range points {
		x := 1.5 * epsilon * float64(i) / (points - 1)
		d, err := loss.Delta(ctx, x)
		if err != nil {
			return nil, err
		}
		s.X, s.Y = append(s.X, x), append(s.Y, d.Upper)
		bar.Step()
	}
	return &figure.Figure{Panels: []figure.Panel{{
		Title: fmt.Sprintf("%d reports of one client", loss.Count()), XLabel: "ε", YLabel: "δ", LogY: true, Series: []figure.Series{s},
	}}}, nil
}
