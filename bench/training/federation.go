package training

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

// federationExperiment runs examples/mnist as users do: in a process of its own, over gRPC, and with fresh
// randomness.
func federationExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:    "federation",
		Title:   "Test accuracy of examples/mnist, over gRPC, against whom clients trust, their number and ε",
		Source:  "The command that the README begins with; no paper",
		Without: []string{experiment.FlagSeed},
		Bind: func(flags *flag.FlagSet) experiment.Run {
			names := flags.String("features", dataset.DemoFeatures, "comma-separated `list` of what the model sees of a picture, among "+strings.Join(dataset.FeatureNames(), ",")+", or "+dataset.Formulas+" or "+dataset.AutoFeatures+", which choose among them")
			settings := flags.String("settings", defaultSettings, "comma-separated `list` of TRUST:CLIENTS@BUDGET; each client holds one picture, and with the trusts own-site and two-servers+sites the clients are sites, who share all pictures; two-servers+honest and two-servers+sites+honest have clients that add a part of the noise, and the budget is --honest-budget")
			classes, transpose := bindClasses(flags)
			rounds := flags.Int("rounds", 0, "rounds of every run; 0: planned")
			random := flags.Int("random", 0, "in place of --settings `n` settings: a trust, 50 to 60000 clients and an ε of 0.1 to 8, by chance")
			mechanism := flags.String("mechanism", mechanisms.Auto, "mechanism of the runs")
			more := flags.StringArray("more", nil, "one more `flag` of examples/mnist for every run, such as --budget=4 beside two-servers+honest; repeatable")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				f := federations{data: env.Data, classes: *classes, transpose: *transpose, rounds: *rounds, repeats: env.RepeatsOr(3), quick: env.Quick, mechanism: *mechanism, more: *more}
				if env.Quick || *random > 0 {
					f.repeats = env.RepeatsOr(1)
				}
				var err error
				if f.features, err = parseFeatures(*names, dataset.AutoFeatures, dataset.Formulas); err != nil {
					return nil, err
				}
				if f.settings, err = parseSettings(*settings, *random); err != nil {
					return nil, err
				}
				return f.run(ctx, env)
			}
		},
	}
}

// federations are runs of examples/mnist.
type federations struct {
	features  []string
	settings  []situation
	mechanism string
	repeats   int
	data      string
	classes   int
	transpose bool
	rounds    int // 0: planned
	more      []string
	quick     bool
	goals     bool // the pictures are MNIST's
}

// summary is what examples/mnist writes: summary.json.
type summary struct {
	Accuracy   float64  `json:"test_accuracy"`
	ZeroShot   *float64 `json:"zero_shot_accuracy"`
	Bare       *float64 `json:"without_privacy"`
	Mechanism  string   `json:"mechanism"`
	Local      *float64 `json:"epsilon_local"`
	LocalTotal *float64 `json:"epsilon_local_total"`
	Central    *float64 `json:"epsilon_central"`
	Clients    int      `json:"clients"`
	Reports    int      `json:"participations"` // of a client
	Rounds     int      `json:"rounds_trained"`
	Dim        int      `json:"dim"`
	Bytes      float64  `json:"bytes_per_report"`
	Seconds    float64  `json:"seconds"`
	Alarms     int      `json:"rounds_with_an_alarm"`
	Public     int      `json:"rounds_with_a_public_alarm"`
	First      int      `json:"first_public_alarm"` // 0: none
	Backdoor   *float64 `json:"backdoor"`
	Refused    int      `json:"steps_refused"`
	Expected   *struct {
		Accuracy float64 `json:"accuracy"`
		Error    float64 `json:"error"`
	} `json:"expected_accuracy"`
}

// federated is the same run, repeated.
type federated struct {
	features string
	situation
	runs    []summary
	refusal string // why there is no run; "" where there is
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
	pictures, err := f.build(ctx, env, dir, len(f.features)*len(f.settings)*f.repeats)
	if err != nil {
		return nil, err
	}
	f.goals = isMNIST(pictures.Test) && !f.quick
	env.Progress.Describe("federation")
	var cells []*federated
	for _, name := range f.features {
		for _, at := range f.settings {
			c := &federated{features: name, situation: at}
			for k := range f.repeats {
				if c.refusal != "" {
					env.Progress.Step()
					continue
				}
				data := filepath.Join(dir, "data")
				if err := deal(data, pictures, at.pictures(pictures.Train.Len()), experiment.Stream(uint64(k), 95, uint64(at.clients))); err != nil {
					return nil, err
				}
				one, err := f.once(ctx, dir, data, name, at, f.more...)
				var refused *refusal
				if errors.As(err, &refused) {
					c.refusal = refused.why
				} else if err != nil {
					return nil, fmt.Errorf("examples/mnist with %s and %v: %w", name, at, err)
				} else {
					c.runs = append(c.runs, one)
				}
				env.Progress.Step()
			}
			cells = append(cells, c)
		}
	}
	return f.report(cells), nil
}

// build builds the programs into a directory, and loads the pictures that clients are to hold. It counts the runs that follow.
func (f federations) build(ctx context.Context, env experiment.Env, dir string, runs int) (*dataset.Data, error) {
	env.Progress.Describe("building examples/mnist")
	env.Progress.Grow(1 + runs)
	programs := []string{"examples/mnist"}
	if slices.ContainsFunc(f.settings, func(s situation) bool { return s.twoServers() }) { // which are processes
		programs = append(programs, "cmd/hushgrad")
	}
	for _, program := range programs {
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, filepath.Base(program)), "github.com/hushgrad/hushgrad/"+program).CombinedOutput(); err != nil {
			return nil, errors.Join(ctx.Err(), fmt.Errorf("go build: %w\n%s", err, out))
		}
	}
	env.Progress.Step()
	env.Progress.Describe("pictures")
	return dataset.Load(ctx, dataset.Options{Source: f.data, Classes: f.classes, Transpose: f.transpose, Seed: experiment.Stream(0, 94).Uint64(), Log: os.Stderr})
}

// refusal is the answer of a demo that plans no run.
type refusal struct{ why string }

func (r *refusal) Error() string { return "refused: " + r.why }

// once runs the command, with more flags, and reads its summary.
func (f federations) once(ctx context.Context, dir, data, features string, at situation, more ...string) (summary, error) {
	out := filepath.Join(dir, "out")
	args := append(at.flags(), "--features", features, "--data", data, "--out", out, "--classes", strconv.Itoa(cmp.Or(f.classes, 10)))
	if at.trust != plan.OwnSite { // whose mechanism follows from it
		args = append(args, "--mechanism", f.mechanism)
	}
	if at.twoServers() {
		args = append(args, "--roles", "3", "--hushgrad", filepath.Join(dir, "hushgrad"))
	}
	if f.quick || f.rounds > 0 {
		args = append(args, "--rounds", strconv.Itoa(cmp.Or(f.rounds, 3)))
	}
	args = append(args, more...)
	var r summary
	if text, err := exec.CommandContext(ctx, filepath.Join(dir, "mnist"), args...).CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		last := lines[len(lines)-1]
		if strings.Contains(last, plan.ErrNoise.Error()) || strings.Contains(last, plan.ErrInfeasible.Error()) {
			return r, &refusal{last}
		}
		return r, fmt.Errorf("%w: %s", err, last)
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
			"features", "trust", "clients", "budget", "epsilon_central", "epsilon_local", "epsilon_local_all", "accuracy", "low", "high", "repeats", "zero_shot", "without_privacy",
			"expected", "expected_error", "mechanism", "rounds", "reports", "dim", "bytes_per_client", "seconds",
		},
		Notes: []string{
			"Every run is a process of its own and has fresh randomness, so a repetition gives other numbers. Each client holds one picture, drawn from the training pictures. low and high are Student's 95 % interval of the mean over the repeats.",
			"budget is the ε of all of a client's reports together: against everybody where nobody is trusted, and else at δ = 1e-6 against whoever sees only the shuffled reports of each round, or against either of two servers alone. Where clients or sites add a part of the noise (+honest) it holds if nine of ten are honest, and epsilon_central holds without them; sites (+sites) have the ε of one picture. epsilon_local is the ε of one report and epsilon_local_all the ε of all reports of a client together, both against everybody.",
			"zero_shot is the accuracy of what the features know before any client takes part, and without_privacy the accuracy of as many rounds without it, in the first run. expected is the accuracy that the plan printed, for generated pictures: 95 of 100 single runs on them are within expected_error of it. seconds are the seconds of the rounds of one run. A setting without accuracy was refused before the first round.",
		},
		Plot:  f.figure(cells),
		Quick: f.quick,
	}
	if best := mostKnown(cells); best > 0.99 {
		r.Notes = append(r.Notes, fmt.Sprintf("The features' public network has %.4f before any client takes part, so all settings look alike: --features edges-centred knows no pictures, and --data has other ones.", best))
	}
	for _, c := range cells {
		row := experiment.Row{c.features, string(c.trust), c.clients, c.budget, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil}
		if c.refusal == "" {
			a, one := c.accuracy(), c.runs[0]
			seconds := 0.
			for _, run := range c.runs {
				seconds += run.Seconds / float64(len(c.runs))
			}
			row = append(row[:4], orNil(one.Central), orNil(one.Local), orNil(one.LocalTotal), a.Value, a.Low, a.High, len(c.runs), orNil(one.ZeroShot), orNil(one.Bare),
				nil, nil, one.Mechanism, one.Rounds, one.Reports, one.Dim, one.Bytes*float64(one.Reports), seconds)
			if e := one.Expected; e != nil {
				row[13], row[14] = e.Accuracy, e.Error
			}
		}
		r.Rows = append(r.Rows, row)
	}
	r.Verdicts = append(f.reached(cells), f.neverWorse(cells)...)
	return r
}

// reached compares accuracies on MNIST with what they should be.
func (f federations) reached(cells []*federated) (out []experiment.Verdict) {
	for _, c := range cells {
		goal, ok := goals[c.features][c.situation]
		if !ok || !f.goals || f.mechanism != mechanisms.Auto {
			continue
		}
		v := experiment.Verdict{Claim: fmt.Sprintf("%s reach %.3f: %v", c.features, goal, c.situation), Detail: c.refusal}
		if c.refusal == "" {
			a := c.accuracy()
			v.Holds, v.Detail = a.Value >= goal, fmt.Sprintf("%.4f [%.4f, %.4f]", a.Value, a.Low, a.High)
		}
		out = append(out, v)
	}
	return out
}

// mostKnown is the largest zero-shot accuracy.
func mostKnown(cells []*federated) (most float64) {
	for _, c := range cells {
		for _, run := range c.runs {
			if run.ZeroShot != nil {
				most = max(most, *run.ZeroShot)
			}
		}
	}
	return most
}

// neverWorse says in how many settings no run ends below what the features know without any client, and in how many
// the accuracy is expected where the pictures are of the kind that was rehearsed.
func (f federations) neverWorse(cells []*federated) (out []experiment.Verdict) {
	known, refused, worse, expected := 0, 0, []string{}, 0
	var off []string
	for _, c := range cells {
		if c.refusal != "" {
			refused++
			continue
		}
		for _, run := range c.runs {
			if run.ZeroShot != nil {
				known++
				if run.Accuracy < *run.ZeroShot {
					worse = append(worse, fmt.Sprintf("%v: %.4f, zero-shot %.4f", c.situation, run.Accuracy, *run.ZeroShot))
				}
			}
			if e := run.Expected; e != nil && f.data == "" {
				expected++
				if run.Accuracy < e.Accuracy-e.Error || run.Accuracy > e.Accuracy+e.Error {
					off = append(off, fmt.Sprintf("%v: %.4f, expected %.4f ± %.4f", c.situation, run.Accuracy, e.Accuracy, e.Error))
				}
			}
		}
	}
	if known > 0 {
		out = append(out, experiment.Verdict{
			Claim: "every run ends at zero-shot or above, or is refused before the first round", Holds: len(worse) == 0,
			Ours: fmt.Sprintf("%d of %d runs, and %d settings refused", known-len(worse), known, refused), Detail: strings.Join(worse, "; "),
		})
	}
	if expected > 0 {
		out = append(out, experiment.Verdict{
			Claim: "accuracies on generated digits are within the interval that the plan printed", Holds: len(off) == 0,
			Ours: fmt.Sprintf("%d of %d runs", expected-len(off), expected), Detail: strings.Join(off, "; "),
		})
	}
	return out
}

// figure draws accuracy against ε for each trust and number of clients, and zero-shot accuracies as dashed lines.
func (f federations) figure(cells []*federated) *figure.Figure {
	panel := figure.Panel{XLabel: "ε of all of a client's reports", YLabel: "test accuracy", LogX: true}
	lines, least := map[string]int{}, 1.
	zeros := map[string]*figure.Series{}
	for _, c := range cells {
		if c.refusal != "" {
			continue
		}
		who := "clients"
		if c.sites() {
			who = "sites"
		}
		name := fmt.Sprintf("%s, %s, %d %s", c.features, c.trust, c.clients, who)
		at, ok := lines[name]
		if !ok {
			at = len(panel.Series)
			lines[name], panel.Series = at, append(panel.Series, figure.Series{Name: name, Style: figure.LinePoints})
		}
		a := c.accuracy()
		panel.Series[at].Add(c.budget, a.Value, a.Low, a.High)
		least = min(least, a.Low)
		if z := c.runs[0].ZeroShot; z != nil {
			if zeros[c.features] == nil {
				zeros[c.features] = &figure.Series{Name: c.features + ", zero-shot", Style: figure.Dashed}
			}
			zeros[c.features].X, zeros[c.features].Y, least = append(zeros[c.features].X, c.budget), append(zeros[c.features].Y, *z), min(least, *z)
		}
	}
	for _, name := range f.features {
		if zero := zeros[name]; zero != nil && len(zero.X) > 1 {
			panel.Series = append(panel.Series, *zero)
		}
	}
	panel.YRange = from(least)
	return &figure.Figure{Panels: []figure.Panel{panel}, ErrorBars: experiment.ErrorBars}
}
