package training

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/plan"
)

// federationExperiment runs examples/mnist as users do: in a process of its own, over gRPC, and with fresh
// randomness.
func federationExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:    "federation",
		Title:   "Test accuracy of examples/mnist, over gRPC, against central ε",
		Source:  "The command that the README begins with; no paper",
		Without: []string{experiment.FlagSeed},
		Bind: func(flags *flag.FlagSet) experiment.Run {
			names := flags.String("features", plan.DemoFeatures, "comma-separated `list` of what the model sees of a picture, among "+strings.Join(dataset.FeatureNames(), ","))
			centrals := flags.String("central", "0.1,0.25,1", "comma-separated `list` of ε of the whole run")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				f := federations{data: env.Data, repeats: env.RepeatsOr(3), quick: env.Quick}
				if env.Quick {
					f.repeats = env.RepeatsOr(1)
				}
				var err error
				if f.features, err = parseFeatures(*names); err != nil {
					return nil, err
				}
				if f.centrals, err = parseEpsilons("-central", *centrals); err != nil {
					return nil, err
				}
				return f.run(ctx, env)
			}
		},
	}
}

// federations are runs of examples/mnist.
type federations struct {
	features []string
	centrals []float64
	repeats  int
	data     string
	quick    bool
	goals    bool // the pictures are MNIST's
}

// summary is what examples/mnist writes: summary.json.
type summary struct {
	Accuracy   float64  `json:"test_accuracy"`
	ZeroShot   *float64 `json:"zero_shot_accuracy"`
	Mechanism  string   `json:"mechanism"`
	Local      float64  `json:"epsilon_local"`
	LocalTotal float64  `json:"epsilon_local_total"`
	Central    float64  `json:"epsilon_central"`
	Delta      float64  `json:"delta"`
	Clients    int      `json:"clients"`
	Rounds     int      `json:"rounds_trained"`
	Dim        int      `json:"dim"`
	Bytes      float64  `json:"bytes_per_report"`
	Seconds    float64  `json:"seconds"`
}

// federated is the same run, repeated.
type federated struct {
	features string
	budget   float64
	runs     []summary
}

// accuracy returns the mean over the repeats, with its interval.
func (c *federated) accuracy() experiment.Interval {
	var values []float64
	for _, r := range c.runs {
		values = append(values, r.Accuracy)
	}
	return experiment.MeanInterval(values)
}

// run runs every cell, one process after the other: each uses all cores.
func (f federations) run(ctx context.Context, env experiment.Env) (_ *experiment.Result, err error) {
	dir, err := os.MkdirTemp("", "hushgrad-federation-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env.Progress.Describe("building examples/mnist")
	env.Progress.Grow(1 + len(f.features)*len(f.centrals)*f.repeats)
	binary := filepath.Join(dir, "mnist")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/hushgrad/hushgrad/examples/mnist").CombinedOutput(); err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("go build: %w\n%s", err, out))
	}
	env.Progress.Step()
	if f.data != "" {
		data, err := dataset.Load(ctx, dataset.Options{Source: f.data, TrainSize: 1})
		if err != nil {
			return nil, err
		}
		f.goals = isMNIST(data.Test) && !f.quick
	}
	env.Progress.Describe("federation")
	var cells []*federated
	for _, name := range f.features {
		for _, budget := range f.centrals {
			c := &federated{features: name, budget: budget, runs: make([]summary, f.repeats)}
			for k := range c.runs {
				if c.runs[k], err = f.once(ctx, binary, filepath.Join(dir, "out"), name, budget); err != nil {
					return nil, fmt.Errorf("examples/mnist with %s at a central ε of %g: %w", name, budget, err)
				}
				env.Progress.Step()
			}
			cells = append(cells, c)
		}
	}
	return f.report(cells), nil
}

// once runs the command and reads its summary.
func (f federations) once(ctx context.Context, binary, out, features string, budget float64) (summary, error) {
	args := []string{"-features", features, "-budget", strconv.FormatFloat(budget, 'g', -1, 64), "-out", out}
	if f.data != "" {
		args = append(args, "-data", f.data)
	}
	if f.quick {
		args = append(args, "-clients", "3000", "-rounds", "3")
	}
	var r summary
	if text, err := exec.CommandContext(ctx, binary, args...).CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return r, fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	raw, err := os.ReadFile(filepath.Join(out, "summary.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(raw, &r)
}

func (f federations) report(cells []*federated) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{
			"features", "budget", "epsilon_central", "epsilon_local", "epsilon_local_all", "accuracy", "low", "high", "repeats", "zero_shot",
			"mechanism", "rounds", "clients", "dim", "bytes_per_report", "seconds",
		},
		Notes: []string{
			"Every run is a process of its own and has fresh randomness, so a repetition gives other numbers. low and high are Student's 95 % interval of the mean over the repeats.",
			"epsilon_central is the ε of all of a client's reports at δ = 1e-6, against a party that sees only the shuffled reports of each round. epsilon_local is the ε of one report and epsilon_local_all the ε of all reports of a client together, both against everybody. Nothing in these runs shuffles.",
			"zero_shot is the accuracy of what the features know before any client takes part. seconds are the seconds of the rounds of one run.",
		},
		Plot:  f.figure(cells),
		Quick: f.quick,
	}
	for _, c := range cells {
		a, one := c.accuracy(), c.runs[0]
		seconds := 0.
		for _, run := range c.runs {
			seconds += run.Seconds / float64(len(c.runs))
		}
		r.Rows = append(r.Rows, experiment.Row{
			c.features, c.budget, one.Central, one.Local, one.LocalTotal, a.Value, a.Low, a.High, len(c.runs), orNil(one.ZeroShot),
			one.Mechanism, one.Rounds, one.Clients, one.Dim, one.Bytes, seconds,
		})
		if goal, ok := goals[c.features][c.budget]; ok && f.goals {
			r.Verdicts = append(r.Verdicts, experiment.Verdict{
				Claim: fmt.Sprintf("%s reach %.3f at a central ε of %g", c.features, goal, c.budget), Holds: a.Value >= goal,
				Detail: fmt.Sprintf("%.4f [%.4f, %.4f]", a.Value, a.Low, a.High),
			})
		}
	}
	return r
}

// goals are what MNIST should reach: what a prototype of each pipeline reached on it, less what may be chance.
var goals = map[string]map[float64]float64{
	"edges-centred": {0.1: 0.912, 0.25: 0.940, 1: 0.958},
	"scatter":       {0.1: 0.928, 0.25: 0.954, 1: 0.971},
	"glyphs":        {0.1: 0.960, 0.25: 0.968, 1: 0.976},
	"glyphs-big":    {0.1: 0.967, 0.25: 0.975, 1: 0.981},
}

// figure draws accuracy against ε, and zero-shot accuracies as dashed lines.
func (f federations) figure(cells []*federated) *figure.Figure {
	panel := figure.Panel{XLabel: "central ε of all rounds, δ = 1e-6", YLabel: "test accuracy", LogX: true}
	least := 1.
	var dashed []figure.Series
	for _, name := range f.features {
		line := figure.Series{Name: name, Style: figure.LinePoints}
		zero := figure.Series{Name: name + ", zero-shot", Style: figure.Dashed}
		for _, c := range cells {
			if c.features != name {
				continue
			}
			a := c.accuracy()
			line.Add(c.runs[0].Central, a.Value, a.Low, a.High)
			least = min(least, a.Low)
			if z := c.runs[0].ZeroShot; z != nil {
				zero.X, zero.Y, least = append(zero.X, c.runs[0].Central), append(zero.Y, *z), min(least, *z)
			}
		}
		panel.Series = append(panel.Series, line)
		if len(zero.X) > 1 {
			dashed = append(dashed, zero)
		}
	}
	panel.Series = append(panel.Series, dashed...)
	panel.YRange = from(least)
	return &figure.Figure{Panels: []figure.Panel{panel}, ErrorBars: experiment.ErrorBars}
}
