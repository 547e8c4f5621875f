package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/sparse"
)

// generic is the -mechanism for any randomizer. Only its ε is known.
const generic = "generic"

// randomizer is what amplification depends on: a round whose reports are shuffled.
type randomizer struct {
	mechanism            string
	epsilon              float64
	dim, sparsity, slots int
	columns              string
	params               fl.Params
}

func (r *randomizer) bind(f *flag.FlagSet) {
	r.params = fl.Params{}
	f.StringVar(&r.mechanism, "mechanism", coco.Name, "mechanism of the round, or generic for any ε-LDP randomizer")
	f.Float64Var(&r.epsilon, "epsilon", 1, "local ε of one report")
	f.IntVar(&r.dim, "dim", 0, "number of coordinates or keys of the round; required where the round's number of slots depends on it")
	f.IntVar(&r.sparsity, "sparsity", 40, "entries of a ternary vector, s; coco, collision and signsketch")
	f.IntVar(&r.slots, "slots", 0, "number of slots t; coco and collision; 0: what a round of hushgrad round has")
	f.StringVar(&r.columns, "columns", "pairs", "-columns of the round, on which its number of slots depends; see hushgrad round")
	f.Var(paramFlag(r.params), "param", "`name=value` of another parameter of the mechanism; may be repeated")
}

// scheme returns the sparse mechanism of that name, or nil.
func (r randomizer) scheme() *sparse.Scheme {
	for _, s := range auto.Schemes() {
		if s.Name() == r.mechanism {
			return s
		}
	}
	return nil
}

func (r randomizer) validate() error {
	names := append(fl.Mechanisms(), generic)
	scheme := r.scheme()
	asksForSlots := scheme != nil && len(scheme.Columns()) > 0
	switch {
	case !slices.Contains(names, r.mechanism):
		return fl.Invalid("-mechanism", r.mechanism, "must be one of %s", strings.Join(names, ", "))
	case !(r.epsilon > 0 && r.epsilon <= fl.MaxEpsilon):
		return fl.Invalid("-epsilon", r.epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case scheme != nil && r.sparsity < 1:
		return fl.Invalid("-sparsity", r.sparsity, "must be at least 1")
	case r.slots != 0 && !asksForSlots:
		return fl.Invalid("-slots", r.slots, "must be 0: %s has no such parameter", r.mechanism)
	case r.slots != 0 && r.slots <= r.sparsity:
		return fl.Invalid("-slots", r.slots, "must be above the sparsity, %d, or 0", r.sparsity)
	case r.dim < 0 || r.dim > fl.MaxDim:
		return fl.Invalid("-dim", r.dim, "must be in [1, %d]", fl.MaxDim)
	case r.dim == 0 && (asksForSlots && r.slots == 0 || scheme == nil && r.mechanism != generic):
		return fl.Invalid("-dim", r.dim, "must be the dimension of the round")
	}
	return nil
}

// round describes the round at a local ε, as hushgrad round would open it.
func (r randomizer) round(epsilon float64) fl.Round {
	out := fl.Round{
		ID: "account", Mechanism: r.mechanism, Dim: r.dim, Scale: 1, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1,
		PublicSeed: [32]byte{1}, Params: maps.Clone(r.params), Columns: columnsOf(r.mechanism, r.columns),
	}
	if r.scheme() != nil {
		out.Dim = max(r.dim, r.sparsity) // where the dimension does not matter it may be left out
		out.Params[sparse.ParamSparsity] = fl.Int(r.sparsity)
		if r.slots > 0 {
			out.Params[sparse.ParamSlots] = fl.Int(r.slots)
		}
	}
	return out
}

// at returns the bound for the round at a local ε, with its number of slots if it has one.
func (r randomizer) at(epsilon float64) (a fl.Amplification, slots int, err error) {
	if r.mechanism == generic {
		a, err = privacy.NewClone(epsilon)
		return a, 0, err
	}
	scheme := r.scheme()
	if scheme == nil {
		_, m, err := fl.Complete(r.round(epsilon))
		if err != nil {
			return nil, 0, err
		}
		shuffled, ok := m.(fl.Amplifier)
		if !ok {
			return nil, 0, fl.Invalid("-mechanism", r.mechanism, "must be one whose guarantee grows stronger when reports are shuffled")
		}
		return shuffled.Shuffled(), 0, nil
	}
	// Completing finds the round's slots without the memory that opening it takes.
	completed, err := scheme.Complete(r.round(epsilon))
	if err != nil {
		return nil, 0, err
	}
	p := sparse.Point{Dim: completed.Dim, Sparsity: r.sparsity, Epsilon: epsilon}
	if completed.Params.Has(sparse.ParamSlots) {
		if p.Slots, err = completed.Params.Int(sparse.ParamSlots); err != nil {
			return nil, 0, err
		}
	}
	a, err = scheme.Blanket(p)
	return a, p.Slots, err
}

// bound names the bound that at returns.
func (r randomizer) bound() string {
	if r.scheme() != nil {
		return "privacy blanket"
	}
	return "standard clone"
}

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
	Bound          string  `json:"bound"`
	Relation       string  `json:"relation"`
}

func amplify(ctx context.Context, args []string, std command.Streams) error {
	f, asJSON, plot := newQuestion("amplify", `Bounds the central ε of n shuffled reports from above. Each report is ε-LDP, each client
sends one, and the relation is replace-one. The round is the one that hushgrad round
opens for the same flags. -epsilon-central asks for the δ at that ε.
-target asks for the largest local ε with that central ε, -clients-for for the smallest n.`, std.Err)
	var r randomizer
	r.bind(f)
	n := f.Int("n", 1000, "number of reports that are shuffled together")
	delta := f.Float64("delta", 1e-6, "δ")
	central := f.Float64("epsilon-central", 0, "if positive: print the δ at this central ε")
	target := f.Float64("target", 0, "if positive: print the largest local ε with this central ε")
	clientsFor := f.Float64("clients-for", 0, "if positive: print the smallest n with this central ε")
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	switch {
	case *n < 2 || *n > fl.MaxReports:
		return fl.Invalid("-n", *n, "must be in [2, %d]", fl.MaxReports)
	case !(*delta > 0 && *delta < 1):
		return fl.Invalid("-delta", *delta, "must be in (0, 1)")
	case *central < 0 || math.IsNaN(*central) || math.IsInf(*central, 1):
		return fl.Invalid("-epsilon-central", *central, "must be finite and at least 0")
	case *target < 0 || math.IsNaN(*target) || math.IsInf(*target, 1):
		return fl.Invalid("-target", *target, "must be finite and at least 0")
	case *clientsFor < 0 || math.IsNaN(*clientsFor) || math.IsInf(*clientsFor, 1):
		return fl.Invalid("-clients-for", *clientsFor, "must be finite and at least 0")
	}
	if err := r.validate(); err != nil {
		return err
	}
	if *target > 0 {
		local, err := privacy.LocalFor(ctx, func(epsilon float64) (fl.Amplification, error) {
			a, _, err := r.at(epsilon)
			return a, err
		}, *n, *delta, *target)
		if err != nil {
			return err
		}
		r.epsilon = local
	}
	a, slots, err := r.at(r.epsilon)
	if err != nil {
		return err
	}
	if *clientsFor > 0 {
		if *n, err = privacy.ClientsFor(ctx, a, *clientsFor, *delta); err != nil {
			return err
		}
	}
	answer := amplified{
		Mechanism: r.mechanism, Epsilon: r.epsilon, Slots: slots, N: *n, Delta: *delta,
		EpsilonCentral: *central, Bound: r.bound(), Relation: fl.ReplaceOne.String(),
	}
	if slots > 0 {
		answer.Sparsity, answer.Dim = r.sparsity, r.dim
	}
	if *central > 0 {
		answer.Delta, err = a.Delta(*n, *central)
	} else {
		answer.EpsilonCentral, err = a.Epsilon(*n, *delta)
	}
	if err != nil {
		return err
	}
	if *plot != "" {
		figure, err := r.curves(ctx, *delta)
		if err != nil {
			return err
		}
		if err := writePlot(*plot, figure); err != nil {
			return err
		}
	}
	if *asJSON {
		return printJSON(std.Out, answer)
	}
	answer.print(std.Out)
	return nil
}

func (a amplified) print(w io.Writer) {
	fmt.Fprintf(w, "mechanism          %s", a.Mechanism)
	if a.Slots > 0 {
		fmt.Fprintf(w, ", s = %d, t = %d", a.Sparsity, a.Slots)
	}
	fmt.Fprintf(w, "\nlocal privacy      ε = %.6g, δ = 0\n", a.Epsilon)
	fmt.Fprintf(w, "shuffled reports   %d, one per client\n", a.N)
	fmt.Fprintf(w, "central privacy    ε = %.6g, δ = %.3g, %s, by the %s (an upper bound)\n", a.EpsilonCentral, a.Delta, a.Relation, a.Bound)
}

// curves draws the central ε against the number of reports, with the bounds of the
// literature beside it.
func (r randomizer) curves(ctx context.Context, delta float64) (*figure.Figure, error) {
	a, slots, err := r.at(r.epsilon)
	if err != nil {
		return nil, err
	}
	sparsity := r.sparsity
	if slots == 0 { // the curves for any randomizer use neither
		sparsity, slots = 1, 2
	}
	comparisons, err := privacy.Comparisons(r.epsilon, sparsity, slots)
	if err != nil {
		return nil, err
	}
	var x []float64
	for exponent := 2.0; exponent <= 7; exponent += 0.25 {
		x = append(x, math.Round(math.Pow(10, exponent)))
	}
	panel := figure.Panel{
		Title:  fmt.Sprintf("%s, local ε = %.4g, δ = %g", r.mechanism, r.epsilon, delta),
		XLabel: "shuffled reports", YLabel: "central ε", LogX: true, LogY: true,
	}
	ours := figure.Series{Name: "hushgrad: " + r.bound(), X: x, Style: figure.LinePoints}
	for _, n := range x {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		y, err := a.Epsilon(int(n), delta)
		if err != nil {
			return nil, err
		}
		ours.Y = append(ours.Y, y)
	}
	panel.Series = []figure.Series{ours}
	for _, c := range comparisons {
		series := figure.Series{Name: fmt.Sprintf("%s (%s)", c.Name, c.Status), X: x, Style: figure.Dashed}
		for _, n := range x {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			y, err := c.Curve(int(n), delta)
			if err != nil {
				y = math.NaN() // outside its range
			}
			series.Y = append(series.Y, y)
		}
		panel.Series = append(panel.Series, series)
	}
	return &figure.Figure{Panels: []figure.Panel{panel}}, nil
}
