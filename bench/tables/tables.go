// Package tables measures training on tables: the program examples/tabular beside the exact optimum without privacy, and beside gradient
// descent by a trusted server. Use it after a change of the steps or of the columns. Start with go run ./bench tables.
package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:    "tables",
		Title:   "Training on generated tables with 30 skewed, correlated and heavy-tailed columns",
		Source:  "Our own measurement; no paper",
		Alone:   true,
		Without: []string{experiment.FlagData},
		Bind: func(f *pflag.FlagSet) experiment.Run {
			s := setting{}
			f.StringVar(&s.root, "root", ".", "`directory` of the repository, whose examples/tabular is built and run")
			return s.run
		},
	}}
}

// setting is what the flags say.
type setting struct{ root string }

// Sizes of a table: every fifth row is for testing. The budget is central.
const (
	clients        = 6000
	rowsOfTable    = clients * 5 / 4
	epsilon, delta = 1., 1e-6
)

// Methods, in the order of the rows.
const (
	optimum = "exact optimum"
	bare    = "hushgrad, no privacy"
	trusted = "trusted server"
	private = "hushgrad, shuffler"
)

// fromOptimum and fromTrusted are how far from these the scores may be.
const fromOptimum, fromTrusted = 0.01, 0.02

func (s setting) run(ctx context.Context, env experiment.Env) (out *experiment.Result, err error) {
	dir, err := os.MkdirTemp("", "hushgrad-tables-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "tabular")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./examples/tabular")
	build.Dir = s.root
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("tables: %w: %s", err, text)
	}
	out = &experiment.Result{
		Columns: []string{"task", "measure", "method", "score", "low", "high", "difference", "difference_low", "difference_high"},
		Notes: []string{
			"Each repeat has a table of its own, with 6000 rows for training, one for each client, and 1500 for testing. The recipe is in bench/tables/generate.go. Ranges are public, and nothing else.",
			"exact optimum is logistic or ridge regression with a penalty of ‖w‖²/2 on standardized columns, by Newton's method. scikit-learn's LogisticRegression and Ridge with the same penalty have the same scores.",
			"trusted server is gradient descent with Gaussian noise of ε = 1 at δ = 10^-6 on centred and scaled columns. Centre and spread are exact there, for no budget. Gradients are clipped to 0.4 times the mean norm of public ones. The rounds are as many as the shuffler's.",
			"low and high are a 95 % interval over repeats. difference is the score above the exact optimum, or above the trusted server for the shuffler, with the interval of pairs.",
			"Rules and constants were chosen by theory, and on tables by other recipes: resampled tables of scikit-learn and another generator.",
		},
		Quick: env.Quick,
	}
	repeats := env.RepeatsOr(3)
	if env.Quick {
		repeats = 1
	}
	for at, t := range []task{{name: "logistic regression", measure: "accuracy", classes: true}, {name: "linear regression", measure: "R²"}} {
		scores := map[string][]float64{}
		for k := range repeats {
			one, err := t.repeat(ctx, env, program, filepath.Join(dir, strconv.Itoa(at)+"-"+strconv.Itoa(k)), at, k)
			if err != nil {
				return nil, fmt.Errorf("tables: %w", err)
			}
			for method, score := range one {
				scores[method] = append(scores[method], score)
			}
		}
		for _, m := range []struct{ method, beside string }{{optimum, ""}, {bare, optimum}, {trusted, optimum}, {private, trusted}} {
			of := experiment.MeanInterval(scores[m.method])
			row := experiment.Row{t.name, t.measure, m.method, of.Value, of.Low, of.High, nil, nil, nil}
			if m.beside != "" {
				var pairs []float64
				for i, v := range scores[m.method] {
					pairs = append(pairs, v-scores[m.beside][i])
				}
				d := experiment.MeanInterval(pairs)
				row[6], row[7], row[8] = d.Value, d.Low, d.High
			}
			out.Rows = append(out.Rows, row)
		}
		for _, c := range []struct {
			claim, method, beside string
			most                  float64
		}{
			{"without privacy the product is as good as the exact optimum", bare, optimum, fromOptimum},
			{"with a shuffler the product is as good as a trusted server", private, trusted, fromTrusted},
		} {
			mean, than := experiment.MeanInterval(scores[c.method]).Value, experiment.MeanInterval(scores[c.beside]).Value
			out.Verdicts = append(out.Verdicts, experiment.Verdict{
				Claim: t.name + ": " + c.claim, Criterion: fmt.Sprintf("mean %s at most %g below", t.measure, c.most),
				Holds: mean >= than-c.most, Ours: fmt.Sprintf("%.4f beside %.4f", mean, than),
			})
		}
	}
	return out, nil
}

// task is what is learnt.
type task struct {
	name, measure string
	classes       bool
}

// repeat returns the score of each method on one table.
func (t task) repeat(ctx context.Context, env experiment.Env, program, dir string, parts ...int) (map[string]float64, error) {
	rng := experiment.Stream(env.Seed, 101, uint64(parts[0]), uint64(parts[1]))
	table := generate(rng, rowsOfTable, t.classes)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "table.csv")
	if err := table.write(path); err != nil {
		return nil, err
	}
	scores := map[string]float64{}
	train, test := table.split()
	exact := train.standard(train.moments())
	w, err := exact.optimum()
	if err != nil {
		return nil, err
	}
	scores[optimum] = test.standard(train.moments()).score(w)
	rounds := 0
	if scores[bare], _, err = ours(ctx, program, dir, path, table, "--mechanism", "none"); err != nil {
		return nil, err
	}
	if scores[private], rounds, err = ours(ctx, program, dir, path, table, "--trust", "shuffler", "--budget", fmt.Sprint(epsilon), "--delta", fmt.Sprint(delta)); err != nil {
		return nil, err
	}
	centre, spread := train.moments()
	w, err = train.standard(centre, spread).cut().descend(rounds, rng)
	scores[trusted] = test.standard(centre, spread).cut().score(w)
	return scores, err
}

// ours runs examples/tabular, and returns its score and the number of its rounds.
func ours(ctx context.Context, program, dir, path string, t *table, more ...string) (score float64, rounds int, err error) {
	columns, target := t.public()
	args := append([]string{"--data", path, "--columns", columns, "--target", target, "--out", dir}, more...)
	if text, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, text)
	}
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		return 0, 0, err
	}
	var s struct {
		Score  float64 `json:"test_score"`
		Rounds int     `json:"rounds"`
	}
	err = json.Unmarshal(text, &s)
	return s.Score, s.Rounds, err
}
