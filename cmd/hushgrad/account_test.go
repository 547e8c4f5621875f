package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/privacy"
)

// ask runs account and decodes its JSON.
func ask(t *testing.T, into any, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := call(t.Context(), append([]string{"account"}, args...), &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr.String())
	}
	if into != nil {
		if err := json.Unmarshal(stdout.Bytes(), into); err != nil {
			t.Fatalf("%v: %v in %s", args, err, stdout.String())
		}
	}
	return stdout.String()
}

// Central ε at δ = 10⁻⁶, computed independently of this module: the three-category
// blanket for Collision with s = 4 and t = 17, and the standard clone.
func TestAmplifyGivesTheReferenceNumbers(t *testing.T) {
	for _, c := range []struct {
		args []string
		want float64
		name string
	}{
		{[]string{"--mechanism", "collision", "--epsilon", "1", "--sparsity", "4", "--slots", "17", "-n", "100"}, 0.38880017248712667, "privacy blanket"},
		{[]string{"--mechanism", "collision", "--epsilon", "1", "--sparsity", "4", "--slots", "17", "-n", "1000000"}, 0.0027021484737544915, "privacy blanket"},
		{[]string{"--mechanism", "generic", "--epsilon", "1", "-n", "1000000"}, 0.004334519802986406, "standard clone"},
	} {
		var got map[string]any
		ask(t, &got, append([]string{"amplify", "--delta", "1e-6", "-o", "json"}, c.args...)...)
		e, _ := got["epsilon_central"].(float64)
		if e < c.want || e > c.want*(1+1e-6) || got["bound"] != c.name || got["delta"] != 1e-6 || c.name == "privacy blanket" && got["slots"] != 17.0 {
			t.Errorf("%v: %v, want ε from %v up to a millionth more", c.args, got, c.want)
		}
	}
}

// The bound is the mechanism's own where it has one.
func TestAmplifyNamesTheBound(t *testing.T) {
	for mechanism, want := range map[string]string{"privunit": "privacy blanket", "laplace": "standard clone"} {
		var got amplified
		if ask(t, &got, "amplify", "--mechanism", mechanism, "--dim", "650", "--epsilon", "4", "-n", "1000", "-o", "json"); got.Bound != want {
			t.Errorf("%s: %q, want %q", mechanism, got.Bound, want)
		}
	}
}

// What account says is never below what the mechanism of the opened round says, over a grid
// of rounds as hushgrad round opens them, for both forms of the question.
func TestAmplifyIsAboutTheOpenedRound(t *testing.T) {
	const delta = 1e-6
	n, questions := 1000, [][]string{{"--epsilon", "0.1"}, {"--epsilon", "4"}, {"--target", "0.5"}}
	if *long {
		n, questions = 10_000, append(questions, []string{"--epsilon", "0.7"}, []string{"--target", "0.04"})
	}
	type shape struct{ amplify, round []string }
	shapes := []shape{
		{[]string{"--mechanism", "pckv-ue", "--param", "padding=8"}, []string{"--mechanism", "pckv-ue", "--param", "padding=8"}},
		{[]string{"--mechanism", "privunit"}, []string{"--mechanism", "privunit"}},
		{[]string{"--mechanism", "signsketch", "--sparsity", "8"}, []string{"--mechanism", "signsketch", "--param", "sparsity=8"}},
	}
	for _, mechanism := range []string{"coco", "collision"} {
		for _, sparsity := range []string{"1", "8", "40"} {
			for _, columns := range []string{"pairs", ""} {
				both := []string{"--mechanism", mechanism, "--columns", columns}
				shapes = append(shapes, shape{
					append(slices.Clone(both), "--sparsity", sparsity), append(slices.Clone(both), "--param", "sparsity="+sparsity),
				})
			}
		}
	}
	for _, s := range shapes {
		for _, question := range questions {
			var got amplified
			args := append([]string{"amplify", "-o", "json", "-n", fmt.Sprint(n), "--dim", "500"}, s.amplify...)
			ask(t, &got, append(args, question...)...)
			args = append([]string{"round", "--dim", "500", "--epsilon", jsonNumber(got.Epsilon)}, s.round...)
			_, m, err := openRound(t.Context(), writeFile(t, t.TempDir(), "round.json", do(t, args...)), nil)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := m.(fl.Amplifier).Shuffled().Epsilon(n, delta)
			if err != nil {
				t.Fatal(err)
			}
			limit := got.EpsilonCentral
			if question[0] == "--target" {
				if limit, err = strconv.ParseFloat(question[1], 64); err != nil {
					t.Fatal(err)
				}
			}
			if opened > limit || got.EpsilonCentral < opened {
				t.Errorf("%v %v: account says %g, the opened round has %g", s.amplify, question, got.EpsilonCentral, opened)
			}
		}
	}
}

// A round that is opened with the ε as it is printed keeps the central ε that was asked for.
func TestThePrintedLocalEpsilonKeepsTheTarget(t *testing.T) {
	for _, target := range []string{"0.04", "0.5", "1"} {
		flags := []string{"account", "amplify", "--sparsity", "1", "--dim", "100", "-n", "10000"}
		printed := regexp.MustCompile(`ε = (\S+), δ = 0 for one report`).FindStringSubmatch(do(t, append(flags, "--target", target)...))
		var got amplified
		ask(t, &got, append(flags[1:], "-o", "json", "--epsilon", printed[1])...)
		if limit, err := strconv.ParseFloat(target, 64); err != nil || got.EpsilonCentral > limit || got.EpsilonCentral < 0.9999*limit {
			t.Errorf("local ε = %s has central ε = %g, want %s at most", printed[1], got.EpsilonCentral, target)
		}
	}
}

func TestAmplifyAnswersTheInverseQuestions(t *testing.T) {
	var at, local, clients, delta amplified
	ask(t, &local, "amplify", "--mechanism", "coco", "--dim", "7850", "--target", "0.5", "-n", "5000", "-o", "json")
	if local.EpsilonCentral > 0.5 || local.EpsilonCentral < 0.4999 || local.Epsilon < 3 || local.Epsilon > 6 {
		t.Errorf("local ε for a central 0.5: %+v", local)
	}
	ask(t, &clients, "amplify", "--mechanism", "generic", "--epsilon", "2", "--clients-for", "0.1", "-o", "json")
	if clients.EpsilonCentral > 0.1 || clients.Bound != "standard clone" {
		t.Errorf("clients for a central 0.1: %+v", clients)
	}
	clone, err := privacy.NewClone(2)
	if err != nil {
		t.Fatal(err)
	}
	if fewer, err := clone.Epsilon(clients.N-1, 1e-6); err != nil || fewer <= 0.1 {
		t.Errorf("one client fewer than %d has ε = %g, %v", clients.N, fewer, err)
	}
	ask(t, &at, "amplify", "--mechanism", "signsketch", "--epsilon", "1", "-n", "1000", "-o", "json")
	ask(t, &delta, "amplify", "--mechanism", "signsketch", "--epsilon", "1", "-n", "1000", "--epsilon-central", jsonNumber(at.EpsilonCentral), "-o", "json")
	if math.Abs(delta.Delta-1e-6) > 1e-10 || delta.EpsilonCentral != at.EpsilonCentral {
		t.Errorf("δ at ε = %g is %g, want about 1e-6", at.EpsilonCentral, delta.Delta)
	}
	if text := ask(t, nil, "amplify", "--dim", "7850", "-n", "2000"); !strings.Contains(text, "an upper bound") || !strings.Contains(text, "against everybody") || !strings.Contains(text, "This assumes an honest shuffler") || !strings.Contains(text, "replace-one") {
		t.Errorf("text: %s", text)
	}
}

// The lower bound is below the upper one, by little, where there are slots enough; four times the sparsity for coco.
func TestAmplifyHasALowerBound(t *testing.T) {
	for _, c := range []struct {
		mechanism, slots string
		known            bool
	}{{"collision", "12", true}, {"collision", "11", false}, {"coco", "16", true}, {"coco", "14", false}} {
		var got amplified
		args := []string{"amplify", "--mechanism", c.mechanism, "--dim", "100", "--sparsity", "4", "--slots", c.slots, "--epsilon", "1", "-n", "10000"}
		ask(t, &got, append(args, "-o", "json")...)
		if (got.Least != nil) != c.known || c.known && (*got.Least > got.EpsilonCentral || *got.Least < 0.999*got.EpsilonCentral) {
			t.Errorf("%s with %s slots: %+v", c.mechanism, c.slots, got)
		}
		want := "No lower bound is known"
		if c.known {
			want = "Lower bound: ε = " + fl.FormatDown(*got.Least, digits)
		}
		if text := strings.Join(strings.Fields(ask(t, nil, args...)), " "); !strings.Contains(text, want) {
			t.Errorf("%s with %s slots: %s", c.mechanism, c.slots, text)
		}
	}
	var generic amplified
	if ask(t, &generic, "amplify", "--mechanism", "generic", "--epsilon", "1", "-n", "1000", "-o", "json"); generic.Least != nil {
		t.Errorf("any randomizer: %+v", generic)
	}
}

func jsonNumber(x float64) string {
	text, _ := json.Marshal(x)
	return string(text)
}

// Gaussian noise of σ per report is, k-fold composed, Gaussian noise of σ/√k, whose exact curve
// is known (Balle and Wang 2018, Theorem 8); pure reports compose as optimal
// composition says.
func TestComposeMatchesClosedForms(t *testing.T) {
	var g composed
	ask(t, &g, "compose", "--kind", "gaussian", "--sigma", "20", "--count", "100", "--delta", "1e-6", "-o", "json")
	mu := math.Sqrt(100) / 20
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	delta := func(e float64) float64 { return phi(mu/2-e/mu) - math.Exp(e)*phi(-mu/2-e/mu) }
	if delta(g.Epsilon) > 1e-6 || delta(g.Epsilon-g.Error-1e-9) < 1e-6 || g.Error > 1e-3 || g.Optimal != nil {
		t.Errorf("gaussian: %+v; exact δ there %g", g, delta(g.Epsilon))
	}
	var p composed
	ask(t, &p, "compose", "--kind", "approximate", "--epsilon", "0.2", "--delta-each", "1e-9", "--count", "50", "--delta", "1e-6", "-o", "json")
	if p.Optimal == nil || p.Advanced == nil || p.Basic == nil || math.Abs(p.Epsilon-*p.Optimal) > 1e-3 || !(*p.Optimal < *p.Advanced) || *p.Basic < 9.99 {
		t.Errorf("approximate: %+v", p)
	}
	// What -o json prints can be given back, with more events.
	file := filepath.Join(t.TempDir(), "events.json")
	events, err := json.Marshal(append(p.Events, g.Events...))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, events, 0o600); err != nil {
		t.Fatal(err)
	}
	var both composed
	ask(t, &both, "compose", "--events", file, "-o", "json")
	if both.Count != 150 || both.Epsilon < max(p.Epsilon, g.Epsilon) || both.Epsilon > p.Epsilon+g.Epsilon || both.Optimal != nil {
		t.Errorf("both: %+v", both)
	}
}

func TestAccountDrawsCurves(t *testing.T) {
	for _, args := range [][]string{
		{"amplify", "--mechanism", "signsketch", "--dim", "100", "--epsilon", "1", "--sparsity", "4", "--delta", "1e-3"},
		{"compose", "--epsilon", "0.5", "--count", "4"},
		{"plan", "--dim", "100", "--l1", "2", "--l2", "1", "--sparsity", "4", "--clients", "2000", "--rounds", "1"},
	} {
		if args[0] == "plan" && !*long { // a plan for each number of clients takes half a second
			continue
		}
		file := filepath.Join(t.TempDir(), "curve.png")
		ask(t, nil, append(args, "--plot", file)...)
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(in); err != nil || img.Bounds().Dx() < 300 {
			t.Errorf("%v: %v", args, err)
		}
		_ = in.Close()
	}
}

// amplifyOf returns the question of a command line.
func amplifyOf(t *testing.T, args ...string) *amplifyFlags {
	t.Helper()
	q := &amplifyFlags{}
	f := flag.NewFlagSet("amplify", flag.ContinueOnError)
	q.bind(f)
	if err := command.ParseOnly(f, args); err != nil {
		t.Fatal(err)
	}
	if err := q.validate(f); err != nil {
		t.Fatal(err)
	}
	return q
}

// Bounds that are proved are drawn as bench fig2 draws them, and only those.
func TestOnlyProvedBoundsAreDrawnSolid(t *testing.T) {
	q := amplifyOf(t, "--mechanism", "collision", "--dim", "100", "--sparsity", "4")
	f, err := q.curves(t.Context(), 1e-3, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	solid := 0
	for _, s := range f.Panels[0].Series {
		proved := strings.HasSuffix(s.Name, "("+string(privacy.Proved)+")")
		if proved != (s.Style == figure.Proved) || !proved && s.Style != figure.Dashed {
			t.Errorf("%q has style %d", s.Name, s.Style)
		}
		if proved {
			solid++
		}
	}
	if dashed := len(f.Panels[0].Series) - solid; solid < 2 || dashed < 2 {
		t.Errorf("%d solid and %d dashed curves", solid, dashed)
	}
}

// counter counts steps.
type counter struct{ announced, done int }

func (c *counter) Grow(n int) { c.announced += n }
func (c *counter) Step()      { c.done++ }

// Searches show how far they are: evaluations are counted, and about as many as announced.
func TestSearchesShowProgress(t *testing.T) {
	for _, args := range [][]string{
		{"--mechanism", "collision", "--dim", "100", "--sparsity", "4", "--clients-for", "0.05"},
		{"--mechanism", "collision", "--dim", "100", "--sparsity", "4", "-n", "10000", "--target", "0.2"},
	} {
		q := amplifyOf(t, args...)
		var c counter
		if _, err := q.answer(t.Context(), &c); err != nil || c.done < c.announced/2 || c.done > c.announced*2 || c.announced == 0 {
			t.Errorf("%q: %d of %d steps, %v", args, c.done, c.announced, err)
		}
	}
}

func TestAccountRefuses(t *testing.T) {
	for param, args := range map[string][]string{
		"question":          {"amplfy"},
		"--mechanism":       {"amplify", "--mechanism", "magic"},
		"--epsilon":         {"amplify", "--epsilon", "21"},
		"--sparsity":        {"amplify", "--sparsity", "0"},
		"--slots":           {"amplify", "--slots", "3"},
		"--reports":         {"amplify", "-n", "1"},
		"--delta":           {"amplify", "--delta", "0"},
		"--epsilon-central": {"amplify", "--epsilon-central", "-1"},
		"--target":          {"amplify", "--target", "NaN"},
		"--clients-for":     {"amplify", "--clients-for", "Inf"},
		"arguments":         {"compose", "now"},
		"flags":             {"compose", "--what", "1"},
		"--kind":            {"compose", "--kind", "magic"},
		"--events":          {"compose", "--events", os.DevNull},
	} {
		err := try(t, append([]string{"account"}, args...))
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v: error %v, want a ParamError for %s", args, err, param)
		}
	}
	if text := ask(t, nil, "--help"); !strings.Contains(text, "amplify") || !strings.Contains(text, "plan") {
		t.Errorf("usage: %s", text)
	}
}

// Without hushgrad-draw a picture is refused before anything is computed, and the error says where the program is to be had.
func TestPicturesNeedTheirProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	file := filepath.Join(t.TempDir(), "curve.svg")
	ctx, stop := context.WithCancel(t.Context())
	stop() // which ends computations with the code 130
	var text strings.Builder
	if code := call(ctx, []string{"account", "compose", "--epsilon", "1", "--plot", file}, io.Discard, &text); code != 2 || !strings.Contains(text.String(), "--plot: got \"hushgrad-draw\"") || !strings.Contains(text.String(), "go install ./cmd/hushgrad-draw") {
		t.Errorf("without the program: exit code %d, %q", code, text.String())
	}
}
