package vectors

import (
	"context"
	"fmt"
	"math"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/sparse"
)

func fig5() experiment.Experiment {
	return experiment.Experiment{
		Name:    "fig5-wang",
		Title:   "Squared error of one report against the number of slots",
		Source:  paper + ", Figure 5",
		Without: append([]string{experiment.FlagQuick}, exact...),
		Bind: func(f *flag.FlagSet) experiment.Run {
			p := bindPoint(f)
			return func(context.Context, experiment.Env) (*experiment.Result, error) { return runFig5(p()) }
		},
	}
}

// bindPoint adds the flags of the settings of Figures 4 and 5, and returns what reads them.
func bindPoint(f *flag.FlagSet) func() (sparse.Point, error) {
	dim := f.Int("dim", 128, "coordinates, d")
	sparsity := f.Int("sparsity", 8, "entries of a vector, s")
	epsilon := f.Float64("epsilon", 0.5, "local ε")
	return func() (sparse.Point, error) {
		p := sparse.Point{Dim: *dim, Sparsity: *sparsity, Epsilon: *epsilon, Hash: sparse.HashIdeal}
		switch {
		case p.Dim < 1 || p.Dim > fl.MaxDim:
			return p, fl.Invalid("--dim", p.Dim, "must be in [1, %d]", fl.MaxDim)
		case p.Sparsity < 1 || p.Sparsity > min(p.Dim, sparse.MaxSparsity):
			return p, fl.Invalid("--sparsity", p.Sparsity, "must be in [1, %d]", min(p.Dim, sparse.MaxSparsity))
		}
		return p, experiment.CheckEpsilon(p.Epsilon)
	}
}

// slotted is a mechanism in Figure 5: its errors, by the names of the paper, the numbers of slots that
// are best for them and the numbers that the paper has.
type slotted struct {
	name  string
	first int // smallest number of slots with an estimate of the support
	step  int // 2 where slots come in pairs
	by    [3]errorOf
}

// errorOf is the error of one kind.
type errorOf struct {
	mse   func(sparse.Point) (float64, error)
	paper int // 0: the paper has none
}

// kinds are the paper's names of errors, and of how many numbers per coordinate they are sums.
var kinds = [3]struct {
	name, what string
	numbers    float64
}{{"Minus", "means", 1}, {"Plus", "supports", 1}, {"Item", "items", 2}}

func slottedAt(p sparse.Point) []slotted {
	s, e := float64(p.Sparsity), math.Exp(p.Epsilon)
	even := func(t float64) int { return 2 * int(math.Ceil(math.Ceil(t)/2)) }
	t := int(math.Floor(s*e + 2*s - 1))
	return []slotted{
		{"Collision", p.Sparsity + 1, 1, [3]errorOf{{collision.Scheme.MSE, t}, {collision.Scheme.FrequencyMSE, 0}, {collision.Scheme.ItemMSE, t}}},
		{"CoCo", 2*p.Sparsity + 2, 2, [3]errorOf{{coco.Scheme.MSE, even(s*e + s + 2)}, {coco.Scheme.FrequencyMSE, even(s*e + 5*s)}, {coco.Scheme.ItemMSE, 0}}},
	}
}

// swept is an error along the numbers of slots, per coordinate.
type swept struct {
	mechanism string
	kind      int
	slots     []int
	mse       []float64
	paper     int
}

// least returns the number of slots with the smallest error, and the error.
func (s swept) least() (slots int, mse float64) {
	mse = math.Inf(1)
	for i, e := range s.mse {
		if e < mse {
			slots, mse = s.slots[i], e
		}
	}
	return slots, mse
}

// at returns the error with a number of slots, NaN if there is none.
func (s swept) at(slots int) float64 {
	for i, t := range s.slots {
		if t == slots {
			return s.mse[i]
		}
	}
	return math.NaN()
}

func runFig5(p sparse.Point, err error) (*experiment.Result, error) {
	if err != nil {
		return nil, err
	}
	bound := MinimaxSquare(p.Dim, p.Sparsity, 1, p.Epsilon) / float64(p.Dim)
	r := &experiment.Result{
		Columns: []string{"error", "mechanism", "slots", "mse"},
		Notes: []string{
			fmt.Sprintf("d = %d, s = %d, ε = %g, ideal hash; exact errors of one report, averaged over the coordinates, Item over their two items.", p.Dim, p.Sparsity, p.Epsilon),
			"The paper defines sums over the coordinates. The numbers on its axes are averages, by the exact errors.",
			fmt.Sprintf("The paper's lower bound on the Minus error of any mechanism, for one report, is %.2g: it says little about one report.", bound),
		},
		Plot: &figure.Figure{Columns: len(kinds)},
	}
	var all []swept
	for kind, k := range kinds {
		panel := figure.Panel{Title: k.name + " error: " + k.what, XLabel: "number of slots, t", YLabel: "squared error of one report, per number"}
		mechanisms, last, lowest, highest := slottedAt(p), 8*p.Sparsity, math.Inf(1), 0.0
		for _, m := range mechanisms {
			last = max(last, 2*m.by[kind].paper)
		}
		for _, m := range mechanisms {
			curve, err := m.sweep(p, kind, last)
			if err != nil {
				return nil, err
			}
			all = append(all, curve)
			_, least := curve.least()
			lowest, highest = min(lowest, least), max(highest, least)
			series := figure.Series{Name: m.name, Y: curve.mse, Style: figure.Line}
			for i, t := range curve.slots {
				series.X = append(series.X, float64(t))
				r.Rows = append(r.Rows, experiment.Row{k.name, m.name, t, curve.mse[i]})
			}
			panel.Series = append(panel.Series, series)
			if curve.paper > 0 {
				panel.Series = append(panel.Series, figure.Series{Name: m.name + ", the paper's t", Of: m.name, X: []float64{float64(curve.paper)}, Y: []float64{curve.at(curve.paper)}, Style: figure.Points})
			}
		}
		panel.YRange = [2]float64{0.9 * lowest, 2 * highest} // without the steep part of few slots
		r.Plot.Panels = append(r.Plot.Panels, panel)
	}
	r.Verdicts = fig5Verdicts(all)
	return r, nil
}

// sweep computes an error from the fewest slots on to the last number.
func (m slotted) sweep(p sparse.Point, kind, last int) (swept, error) {
	of := m.by[kind]
	out := swept{mechanism: m.name, kind: kind, paper: of.paper}
	for t := m.first; t <= last; t += m.step {
		p.Slots = t
		mse, err := of.mse(p)
		if err != nil {
			return out, fmt.Errorf("%s, %s: %w", m.name, kinds[kind].name, err)
		}
		out.slots, out.mse = append(out.slots, t), append(out.mse, mse/float64(p.Dim)/kinds[kind].numbers)
	}
	return out, nil
}

// fig5Verdicts are the paper's claims about the figure.
func fig5Verdicts(all []swept) (out []experiment.Verdict) {
	find := func(mechanism string, kind int) swept {
		for _, s := range all {
			if s.mechanism == mechanism && s.kind == kind {
				return s
			}
		}
		return swept{}
	}
	a, b := find("Collision", 0), find("CoCo", 0)
	one, least := a.least()
	two, best := b.least()
	gain := 1 - best/least
	out = append(out, experiment.Verdict{
		Claim:   "Figure 5: CoCo's Minus error is about 20 % below Collision's, each at its best number of slots",
		Holds:   math.Abs(gain-0.2) <= 0.05,
		Section: "Figure 5", Quote: "CoCo has about 20% lower MSE errors on the mean",
		Criterion: "15 to 25 %",
		Ours:      fmt.Sprintf("%.1f %%, exact (t = %d against %d)", 100*gain, two, one),
		Detail: fmt.Sprintf("%.1f %% at the paper's own t (%d against %d)",
			100*(1-b.at(b.paper)/a.at(a.paper)), b.paper, a.paper),
	})
	for kind := 1; kind < len(kinds); kind++ {
		_, collisions := find("Collision", kind).least()
		_, other := find("CoCo", kind).least()
		out = append(out, experiment.Verdict{
			Claim: fmt.Sprintf("Figure 5: Collision has the smaller %s error, each at its best number of slots", kinds[kind].name),
			Holds: collisions < other,
			Ours:  fmt.Sprintf("CoCo has %.2f times as much, exact", other/collisions),
		})
	}
	for _, s := range all {
		if s.paper == 0 {
			continue
		}
		slots, least := s.least()
		theirs := s.at(s.paper)
		out = append(out, experiment.Verdict{
			Claim:     fmt.Sprintf("Figure 5: the paper's number of slots for %s has nearly the smallest %s error", s.mechanism, kinds[s.kind].name),
			Holds:     theirs <= 1.05*least,
			Criterion: "at most 5 % above the least",
			Ours:      fmt.Sprintf("%.2g %% above the least, at t = %d, exact", 100*(theirs/least-1), slots),
			Detail:    fmt.Sprintf("%.3g with the paper's t = %d", theirs, s.paper),
		})
	}
	return out
}
