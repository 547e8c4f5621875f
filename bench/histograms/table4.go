package histograms

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func table4() experiment.Experiment {
	return experiment.Experiment{
		Name:    "table4-hetero",
		Title:   "Histograms of clients with different demands: our weights and the baselines",
		Source:  `Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation Under Heterogeneous Privacy: A Worst-Case Analysis", Table 4, synthetic rows`,
		Without: []string{experiment.FlagData},
		Bind:    func(*flag.FlagSet) experiment.Run { return run },
	}
}

func run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	n, repeats := 10_000, env.RepeatsOr(1500)
	if env.Quick {
		repeats = env.RepeatsOr(40)
	}
	env.Progress.Describe("table4-hetero")
	env.Progress.Grow(len(settings) * repeats)
	errors := make([][][]float64, len(settings))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i := range settings {
		errors[i] = make([][]float64, len(methods))
		for j := range methods {
			errors[i][j] = make([]float64, repeats)
		}
		for k := range repeats {
			group.Go(func() error {
				defer env.Progress.Step()
				return repeat(ctx, env.Seed, n, i, k, errors[i])
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	scores := make([][]score, len(settings))
	for i := range settings {
		for _, e := range errors[i] {
			scores[i] = append(scores[i], newScore(e))
		}
	}
	return report(scores, n, repeats), nil
}

// repeat draws the clients of a setting and lets every method estimate their histogram.
func repeat(ctx context.Context, seed uint64, n, at, k int, errors [][]float64) error {
	p := newPopulation(n, settings[at], experiment.Stream(seed, 4, uint64(at), uint64(k)))
	for j, m := range methods {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := m.estimate(p, experiment.Stream(seed, 40, uint64(at), uint64(j), uint64(k)))
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		errors[j][k] = largestError(got, p.truth)
	}
	return nil
}

func report(scores [][]score, n, repeats int) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"setting", "n", "k", "mechanism", "quantile95", "quantile95_stderr", "mse", "mse_stderr"},
		Notes: []string{
			fmt.Sprintf("Error: ℓ∞ distance to the clients' own histogram; %d repeats, each with fresh clients. The standard error of a quantile is the exact bootstrap one.", repeats),
			"A method beats another where it is better by more than two standard errors, and ties within two. The PAC weights are scored by the quantile, the MSE weights by the MSE.",
			"Uncorrelated: category c has probability proportional to c + 1 and ln ε is uniform in [−5, 5]. How the paper correlates them is not known to us. There are six readings. Halves: the categories are reversed for clients whose ε is below the median. Sorted, the worst case: clients in the order of their ε fill the categories in turn. Windows: category c has the c-th of k equal windows of [−5, 5] to itself. Overlapping: its window is half the range and moves with c. Narrow: windows of [−2, 2]. Weak: halves for one client in ten, nothing for the others.",
			"Calibrated weights are not in the paper. They have the published risks with the constants of the bounds of a histogram's error, which count noise more.",
			"A is the paper's heuristic, C and U are its optimal weights for demands that may depend on the data and for those that do not, and T are those of its fast surrogate for U. Prop weighs clients in proportion to ε, UNI all alike. SM samples with its threshold at the largest or the mean demand; LDP weighs all clients alike.",
			"Error bars: 1.96 standard errors to each side, an approximate 95 % interval.",
		},
		Plot: &figure.Figure{Columns: 2, ErrorBars: experiment.ErrorBars},
	}
	for i, s := range settings {
		panel := figure.Panel{Title: s.String(), YLabel: "largest error of a share, 95 % quantile", LogY: true}
		for _, name := range groups {
			panel.Series = append(panel.Series, figure.Series{Name: name, Style: figure.Points})
		}
		for j, m := range methods {
			at := scores[i][j]
			r.Rows = append(r.Rows, experiment.Row{s.String(), n, s.categories, m.name, at.quantile.value, at.quantile.stderr, at.mse.value, at.mse.stderr})
			if !strings.HasSuffix(m.name, "MSE") {
				q := at.quantile
				panel.Series[m.group()].Add(float64(len(panel.Categories)), q.value, q.value-1.96*q.stderr, q.value+1.96*q.stderr)
				panel.Categories = append(panel.Categories, strings.TrimSuffix(m.name, ", PAC"))
			}
		}
		r.Plot.Panels = append(r.Plot.Panels, panel)
		for _, c := range s.contenders() {
			r.Verdicts = append(r.Verdicts, c.verdict(s, scores[i]))
		}
	}
	return r
}
