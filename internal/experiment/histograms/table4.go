package histograms

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/internal/experiment"
)

func table4() experiment.Experiment {
	return experiment.Experiment{
		Name:   "table4-hetero",
		Title:  "Histograms of users with different demands: our weights and the baselines",
		Source: `Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation Under Heterogeneous Privacy: A Worst-Case Analysis", Table 4, synthetic rows`,
		Bind:   func(*flag.FlagSet) experiment.Run { return run },
	}
}

// setting is one row group of the table.
type setting struct {
	dependence
	categories int
}

func (s setting) String() string { return fmt.Sprintf("%s, k = %d", s.dependence, s.categories) }

var settings = []setting{{correlated, 5}, {correlated, 20}, {sorted, 5}, {sorted, 20}, {uncorrelated, 5}, {uncorrelated, 20}}

// score is what one method did in one setting.
type score struct {
	quantile, mse, stderr float64
}

func run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	n, repeats := 10_000, env.RepeatsOr(400)
	if env.Quick {
		repeats = env.RepeatsOr(40)
	}
	env.Progress.Describe("table4-hetero")
	env.Progress.Grow(len(settings) * len(methods))
	scores := make([][]score, len(settings))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i, s := range settings {
		scores[i] = make([]score, len(methods))
		for j, m := range methods {
			group.Go(func() (err error) {
				defer env.Progress.Step()
				scores[i][j], err = measure(ctx, env, s, m, n, repeats, uint64(i), uint64(j))
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return report(scores, n, repeats), nil
}

// measure draws a population for every repeat: the same ones for every method.
func measure(ctx context.Context, env experiment.Env, s setting, m method, n, repeats int, at, which uint64) (score, error) {
	errors := make([]float64, repeats)
	for k := range repeats {
		if err := ctx.Err(); err != nil {
			return score{}, err
		}
		p := newPopulation(n, s.categories, s.dependence, experiment.Stream(env.Seed, 4, at, uint64(k)))
		estimate, err := m.build(p)
		if err != nil {
			return score{}, fmt.Errorf("%s: %w", m.name, err)
		}
		got, err := estimate(experiment.Stream(env.Seed, 40, at, which, uint64(k)))
		if err != nil {
			return score{}, fmt.Errorf("%s: %w", m.name, err)
		}
		errors[k] = largestError(got, p.truth)
	}
	return newScore(errors), nil
}

// newScore sorts the errors. One repeat has no standard error.
func newScore(errors []float64) score {
	slices.Sort(errors)
	squares := make([]float64, len(errors))
	floats.MulTo(squares, errors, errors)
	s := score{quantile: stat.Quantile(0.95, stat.Empirical, errors, nil), mse: stat.Mean(squares, nil)}
	if len(squares) > 1 {
		s.stderr = stat.StdDev(squares, nil) / math.Sqrt(float64(len(squares)))
	}
	return s
}

func report(scores [][]score, n, repeats int) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"setting", "n", "k", "mechanism", "quantile95", "mse", "mse_stderr"},
		Notes: []string{
			fmt.Sprintf("Error: ℓ∞ distance to the users' own histogram; %d repeats, each with fresh users.", repeats),
			"ln ε is uniform in [−5, 5]. Uncorrelated: category c has probability proportional to c + 1. Correlated: reversed for users whose ε is below the median. Sorted, the worst case: users in the order of their ε fill the categories in turn. How the paper correlates them is our reading.",
			"SM samples with its threshold at the largest or the mean demand; LDP weighs everybody alike; T has the weights of the uncorrelated setting.",
		},
		Plot: &experiment.Figure{Columns: 2},
	}
	for i, s := range settings {
		panel := experiment.Panel{Title: s.String(), YLabel: "95 % quantile of the error", LogY: true}
		bars := experiment.Series{Style: experiment.Bars}
		for j, m := range methods {
			at := scores[i][j]
			r.Rows = append(r.Rows, experiment.Row{s.String(), n, s.categories, m.name, at.quantile, at.mse, at.stderr})
			panel.Categories, bars.Y = append(panel.Categories, m.name), append(bars.Y, at.quantile)
		}
		panel.Series = []experiment.Series{bars}
		r.Plot.Panels = append(r.Plot.Panels, panel)
		own := "C, PAC"
		if s.dependence == uncorrelated {
			own = "U, PAC"
		}
		r.Verdicts = append(r.Verdicts, beats(s, scores[i], "A"), beats(s, scores[i], own))
	}
	return r
}

// beats says whether a method is below every baseline in both measures.
func beats(s setting, scores []score, name string) experiment.Verdict {
	find := func(name string) score {
		return scores[slices.IndexFunc(methods, func(m method) bool { return m.name == name })]
	}
	own := find(name)
	v := experiment.Verdict{Claim: fmt.Sprintf("%s: %s beats Prop, UNI, SM and LDP", s, name), Holds: true}
	var detail []string
	for _, b := range baselines {
		other := find(b)
		v.Holds = v.Holds && own.quantile < other.quantile && own.mse < other.mse
		text := fmt.Sprintf("%s: quantile %.3g×, MSE %.3g×", b, other.quantile/own.quantile, other.mse/own.mse)
		if spread := math.Hypot(own.stderr, other.stderr); spread > 0 {
			text += fmt.Sprintf(" (%.0f standard errors)", (other.mse-own.mse)/spread)
		}
		detail = append(detail, text)
	}
	v.Detail = strings.Join(detail, "; ")
	return v
}
