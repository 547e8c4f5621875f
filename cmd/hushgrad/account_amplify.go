package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/signsketch"
)

// generic is the -mechanism for a randomizer of which only ε is known.
const generic = "generic"

// randomizer is what amplification depends on.
type randomizer struct {
	mechanism       string
	epsilon         float64
	sparsity, slots int
}

func (r *randomizer) bind(f *flag.FlagSet) {
	f.StringVar(&r.mechanism, "mechanism", coco.Name, "coco, collision, signsketch, or generic for any ε-LDP randomizer")
	f.Float64Var(&r.epsilon, "epsilon", 1, "local ε of one report")
	f.IntVar(&r.sparsity, "sparsity", 40, "entries of a ternary vector, s; coco and collision")
	f.IntVar(&r.slots, "slots", 0, "output size t; coco and collision; 0: the papers' t at this ε and s")
}

func (r randomizer) validate() error {
	switch r.mechanism {
	case coco.Name, collision.Name, signsketch.Name, generic:
	default:
		return fl.Invalid("-mechanism", r.mechanism, "must be %s, %s, %s or %s", coco.Name, collision.Name, signsketch.Name, generic)
	}
	switch {
	case !(r.epsilon > 0 && r.epsilon <= fl.MaxEpsilon):
		return fl.Invalid("-epsilon", r.epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case r.sparsity < 1:
		return fl.Invalid("-sparsity", r.sparsity, "must be at least 1")
	case r.slots != 0 && r.slots <= r.sparsity:
		return fl.Invalid("-slots", r.slots, "must be above the sparsity, %d, or 0", r.sparsity)
	}
	return nil
}

// at returns the randomizer at another local ε, with the papers' number of slots
// there unless one is fixed.
func (r randomizer) at(epsilon float64) randomizer {
	r.epsilon = epsilon
	s, e := float64(r.sparsity), math.Exp(epsilon)
	switch {
	case r.slots != 0:
	case r.mechanism == collision.Name:
		r.slots = int(math.Floor(s*e + 2*s - 1))
	case r.mechanism == coco.Name:
		r.slots = 2 * int(math.Ceil((s*e+s+2)/2))
	}
	return r
}

// amplification returns the bound and its name.
func (r randomizer) amplification() (privacy.Amplification, string, error) {
	switch r.mechanism {
	case generic:
		a, err := privacy.NewClone(r.epsilon)
		return a, "standard clone", err
	case signsketch.Name:
		a, err := privacy.NewBlanket(r.epsilon, 1, 2)
		return a, "privacy blanket", err
	}
	a, err := privacy.NewBlanket(r.epsilon, r.sparsity, r.slots)
	return a, "privacy blanket", err
}

// amplified is the answer of account amplify.
type amplified struct {
	Mechanism      string  `json:"mechanism"`
	Epsilon        float64 `json:"epsilon"`
	Sparsity       int     `json:"sparsity,omitempty"`
	Slots          int     `json:"slots,omitempty"`
	N              int     `json:"n"`
	Delta          float64 `json:"delta"`
	EpsilonCentral float64 `json:"epsilon_central"`
	Bound          string  `json:"bound"`
	Relation       string  `json:"relation"`
}

func amplify(_ context.Context, args []string, std command.Streams) error {
	f, asJSON, plot := newQuestion("amplify", `Central ε of n shuffled reports, each ε-LDP, one per client, for the relation
replace-one: an upper bound. With -epsilon-central the δ at that ε; with -target the
largest local ε that keeps the central one below; with -clients-for the smallest n.`, std.Err)
	var r randomizer
	r.bind(f)
	n := f.Int("n", 1000, "number of reports that are shuffled together")
	delta := f.Float64("delta", 1e-6, "δ")
	central := f.Float64("epsilon-central", 0, "if positive: tell the δ at this central ε")
	target := f.Float64("target", 0, "if positive: tell the largest local ε with this central ε")
	clientsFor := f.Float64("clients-for", 0, "if positive: tell the smallest n with this central ε")
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	if err := r.validate(); err != nil {
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
	if *target > 0 {
		local, err := privacy.LocalFor(func(epsilon float64) (privacy.Amplification, error) {
			a, _, err := r.at(epsilon).amplification()
			return a, err
		}, *n, *delta, *target)
		if err != nil {
			return err
		}
		r.epsilon = local
	}
	r = r.at(r.epsilon)
	a, bound, err := r.amplification()
	if err != nil {
		return err
	}
	if *clientsFor > 0 {
		if *n, err = privacy.ClientsFor(a, *clientsFor, *delta); err != nil {
			return err
		}
	}
	answer := amplified{
		Mechanism: r.mechanism, Epsilon: r.epsilon, Sparsity: r.sparsity, Slots: r.slots, N: *n, Delta: *delta,
		EpsilonCentral: *central, Bound: bound, Relation: fl.ReplaceOne.String(),
	}
	if r.mechanism == generic || r.mechanism == signsketch.Name {
		answer.Sparsity, answer.Slots = 0, 0
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
		figure, err := r.curves(*delta)
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
func (r randomizer) curves(delta float64) (*figure.Figure, error) {
	a, bound, err := r.amplification()
	if err != nil {
		return nil, err
	}
	sparsity, slots := r.sparsity, r.slots
	if r.mechanism == generic || r.mechanism == signsketch.Name {
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
	ours := figure.Series{Name: "hushgrad: " + bound, X: x, Style: figure.LinePoints}
	for _, n := range x {
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
