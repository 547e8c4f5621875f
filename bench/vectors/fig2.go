package vectors

import (
	"context"
	"errors"
	"fmt"
	"math"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/privacy"
)

func fig2() experiment.Experiment {
	return experiment.Experiment{
		Name:    "fig2",
		Title:   "Amplification by shuffling: local ε over central ε, bound by bound",
		Source:  paper + ", Figure 2",
		Without: exact,
		Bind: func(f *flag.FlagSet) experiment.Run {
			delta := f.Float64("delta", 1e-6, "δ of the central guarantee")
			with := experiment.BindWith(f)
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				if !(*delta > 0 && *delta < 1) {
					return nil, fl.Invalid("--delta", *delta, "must be in (0, 1)")
				}
				own, err := with()
				if err != nil {
					return nil, err
				}
				return runFig2(ctx, env, *delta, own)
			}
		},
	}
}

// ours is the series of the bound that this project ships.
const ours = "privacy blanket, ours"

// printed is the series of the pair with the α that the paper prints, the bound of its figure.
const printed = "pair with the printed α"

// pair is the series of the pair with the right α.
const pair = "pair"

// collisionSlots is the paper's number of slots of Collision.
func collisionSlots(sparsity int, epsilon float64) int {
	return int(math.Floor(float64(sparsity)*math.Exp(epsilon) + 2*float64(sparsity) - 1))
}

// printedAlpha is s(e^ε−1)/Ω. Above 1/(e^ε+1), for e^ε above 2.73, there is no such pair.
func printedAlpha(epsilon float64, sparsity, slots int) float64 {
	s := float64(sparsity)
	return s * math.Expm1(epsilon) / (s*math.Expm1(epsilon) + float64(slots))
}

// curve is a bound along the axis of local ε.
type curve struct {
	name   string
	status privacy.Status
	ratio  []float64 // NaN where the bound says nothing
}

// amplification is one panel: a sparsity and a number of reports, at one δ.
type amplification struct {
	sparsity, n int
	delta       float64
	curves      []curve
}

func amplifications(delta float64) []amplification {
	return []amplification{{sparsity: 4, n: 10_000, delta: delta}, {sparsity: 4, n: 100_000, delta: delta}, {sparsity: 64, n: 10_000, delta: delta}, {sparsity: 64, n: 100_000, delta: delta}}
}

func runFig2(ctx context.Context, env experiment.Env, delta float64, own []experiment.Own) (*experiment.Result, error) {
	epsilons := []float64{0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5}
	if env.Quick {
		epsilons = []float64{0.1, 1, 3}
	}
	readings := []float64{delta}
	for _, d := range otherDeltas {
		if d != delta {
			readings = append(readings, d)
		}
	}
	env.Progress.Describe("fig2")
	env.Progress.Grow(len(readings) * len(amplifications(delta)) * len(epsilons))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	var all [][]amplification
	for _, d := range readings {
		panels := amplifications(d)
		all = append(all, panels)
		for i := range panels {
			group.Go(func() error { return panels[i].measure(ctx, env, epsilons, own) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"sparsity", "reports", "epsilon", "bound", "status", "epsilon_central", "ratio"},
		Notes: []string{
			fmt.Sprintf("Collision with t = ⌊s·e^ε + 2s − 1⌋, δ = %g. Ratio: local ε over central ε.", delta),
			"The paper does not give its δ. Earlier bounds are by Erlingsson et al. and by Balle et al., and clones. Stronger clones are among them, as in the paper.",
			"A bound that is not proved is drawn for comparison only, and dashed. A counterexample refutes the pair. Stronger clones are withdrawn for general randomizers.",
		},
		Plot: &figure.Figure{Columns: 2},
	}
	for _, p := range all[0] {
		p.report(r, epsilons)
	}
	r.Verdicts = fig2Verdicts(all, epsilons)
	return r, nil
}

func (p *amplification) measure(ctx context.Context, env experiment.Env, epsilons []float64, own []experiment.Own) error {
	for i, epsilon := range epsilons {
		if err := ctx.Err(); err != nil {
			return err
		}
		slots := collisionSlots(p.sparsity, epsilon)
		blanket, err := privacy.NewBlanket(epsilon, p.sparsity, slots)
		if err != nil {
			return err
		}
		central, err := blanket.Epsilon(p.n, p.delta)
		if err != nil {
			return err
		}
		p.add(i, len(epsilons), ours, privacy.Proved, epsilon/central)
		comparisons, err := privacy.Comparisons(epsilon, p.sparsity, slots)
		if err != nil {
			return err
		}
		for _, c := range comparisons {
			ratio := math.NaN()
			central, err := c.Curve(p.n, p.delta)
			switch {
			case err == nil:
				ratio = epsilon / central
			case !errors.Is(err, privacy.ErrOutOfRange):
				return err
			}
			p.add(i, len(epsilons), c.Name, c.Status, ratio)
		}
		ratio := math.NaN()
		if c, err := privacy.PairCurve(epsilon, printedAlpha(epsilon, p.sparsity, slots)); err == nil {
			central, err := c.Curve(p.n, p.delta)
			if err != nil {
				return err
			}
			ratio = epsilon / central
		}
		p.add(i, len(epsilons), printed, privacy.NotABound, ratio)
		for _, o := range own {
			central, err := p.shuffled(o, epsilon)
			if err != nil {
				return fmt.Errorf("%s, ε = %g: %w", o.Label, epsilon, err)
			}
			p.add(i, len(epsilons), o.Label, stated, epsilon/central)
		}
		env.Progress.Step()
	}
	return nil
}

// stated is the status of the guarantee of a mechanism of the flag --with: nothing here proves it.
const stated privacy.Status = "as it states"

// ownDim is the number of coordinates of rounds of mechanisms of the flag --with, as in Figures 4 and 5.
const ownDim = 128

// shuffled is the central ε that a mechanism of the flag --with states.
func (p *amplification) shuffled(o experiment.Own, epsilon float64) (float64, error) {
	_, m, err := fl.Complete(fl.Round{
		ID: "bench", Mechanism: o.Mechanism, Dim: ownDim, Scale: 1, Epsilon: epsilon, MinReports: p.n, Params: o.Params(p.sparsity), PublicSeed: [32]byte{1},
	})
	if err != nil {
		return 0, err
	}
	a, ok := m.(fl.Amplifier)
	if !ok {
		return 0, fl.Invalid("--"+experiment.FlagWith, o.Label, "must have a guarantee for shuffled reports: implement fl.Amplifier")
	}
	return a.Shuffled().Epsilon(p.n, p.delta)
}

// add notes point i of a curve.
func (p *amplification) add(i, points int, name string, status privacy.Status, ratio float64) {
	for k := range p.curves {
		if p.curves[k].name == name {
			p.curves[k].ratio[i] = ratio
			return
		}
	}
	c := curve{name: name, status: status, ratio: make([]float64, points)}
	for k := range c.ratio {
		c.ratio[k] = math.NaN()
	}
	c.ratio[i] = ratio
	p.curves = append(p.curves, c)
}

func (p *amplification) report(r *experiment.Result, epsilons []float64) {
	panel := figure.Panel{Title: fmt.Sprintf("s = %d entries, n = %d reports", p.sparsity, p.n), XLabel: "local ε of one report", YLabel: "local ε over central ε", LogX: true, LogY: true}
	for _, c := range p.curves {
		style := figure.Dashed
		if c.status == privacy.Proved {
			style = figure.Proved
		}
		panel.Series = append(panel.Series, figure.Series{Name: fmt.Sprintf("%s (%s)", c.name, c.status), X: epsilons, Y: c.ratio, Style: style})
		for i, ratio := range c.ratio {
			var central any
			if !math.IsNaN(ratio) {
				central = epsilons[i] / ratio
			}
			r.Rows = append(r.Rows, experiment.Row{p.sparsity, p.n, epsilons[i], c.name, string(c.status), central, ratio})
		}
	}
	r.Plot.Panels = append(r.Plot.Panels, panel)
}
