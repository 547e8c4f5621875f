package training

import (
	"context"
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

var long = flag.Bool("long", false, "run examples/mnist, too")

// The real command trains for a few rounds with every trust, and its summary has everything that the table shows. A run that
// would learn nothing is refused.
func TestTheFederationIsTheRealCommand(t *testing.T) {
	if !*long {
		t.Skip("needs a minute: -long")
	}
	f := federations{features: []string{"glyphs"}, mechanism: mechanisms.Auto, repeats: 1, quick: true, settings: []situation{
		{plan.Nobody, 3000, 4}, {plan.Shuffler, 3000, 1}, {plan.TwoServers, 200, 8}, {plan.Shuffler, 50, 0.1},
	}}
	r, err := f.run(t.Context(), experiment.Env{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 4 || len(r.Verdicts) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, row := range r.Rows[:3] {
		if a, zero := row[7].(float64), row[11].(float64); a < 0.9 || zero < 0.9 || row[13] == nil || row[18] != 650 || !(row[19].(float64) > 0) {
			t.Errorf("%v", row)
		}
	}
	if refused := r.Rows[3]; refused[7] != nil {
		t.Errorf("50 clients with an ε of 0.1: %v", refused)
	}
	f.settings, f.more = []situation{{honestSites, 4, 8}}, []string{"--budget=7"}
	if _, err := f.run(t.Context(), experiment.Env{Jobs: 1}); err == nil || !strings.Contains(err.Error(), "below the budget, 7") {
		t.Errorf("one more flag: %v, want the demo's error", err)
	}
}

// Only runs on MNIST are compared with what MNIST should reach, and intervals are over the repeats.
func TestTheFederationReportsItsGoals(t *testing.T) {
	zero, central := 0.95, 0.99
	run := func(accuracy float64) summary { return summary{Accuracy: accuracy, ZeroShot: &zero, Central: &central} }
	f := federations{features: []string{"glyphs", "identity"}, mechanism: mechanisms.Auto, goals: true, data: "mnist"}
	at := situation{plan.Shuffler, 6000, 0.25}
	cells := []*federated{
		{features: "glyphs", situation: at, runs: []summary{run(0.95), run(0.958)}},
		{features: "identity", situation: at, runs: []summary{run(0.951)}},
		{features: "glyphs", situation: situation{plan.Shuffler, 1000, 1}, refusal: "more noise than signal"},
	}
	r := f.report(cells)
	if len(r.Verdicts) != 3 || r.Verdicts[0].Holds || r.Verdicts[1].Holds || r.Rows[0][7] != 0.954 || !(r.Rows[0][8].(float64) < 0.95) || r.Rows[1][8] != 0.951 || r.Rows[2][7] != nil {
		t.Errorf("%+v", r)
	}
	if v := r.Verdicts[2]; !v.Holds || v.Ours != "3 of 3 runs, and 1 settings refused" {
		t.Errorf("%+v", v)
	}
	cells[0].runs[0].Accuracy, cells[1].runs[0].Accuracy = 0.9999, 0.9499
	if r := f.report(cells); !r.Verdicts[0].Holds || r.Verdicts[2].Holds || !strings.Contains(r.Verdicts[2].Detail, "shuffler:6000@0.25: 0.9499, zero-shot 0.9500") {
		t.Errorf("%+v", r.Verdicts)
	}
	f.goals = false
	alike := func(r *experiment.Result) bool { return strings.Contains(strings.Join(r.Notes, " "), "look alike") }
	if r := f.report(cells); len(r.Verdicts) != 1 || alike(r) {
		t.Errorf("other pictures: %+v, %q", r.Verdicts, r.Notes)
	}
	zero = 0.995 // nothing is left to learn
	if r := f.report(cells); !alike(r) {
		t.Errorf("notes %q", r.Notes)
	}
}

// On generated digits the accuracy is compared with the interval that the plan printed.
func TestTheFederationComparesWithItsPlans(t *testing.T) {
	var one summary
	one.Accuracy = 0.9
	one.Expected = &struct {
		Accuracy float64 `json:"accuracy"`
		Error    float64 `json:"error"`
	}{0.92, 0.03}
	far := one
	far.Accuracy = 0.951
	f := federations{}
	if v := f.neverWorse([]*federated{{runs: []summary{one}}}); len(v) != 1 || !v[0].Holds {
		t.Errorf("%+v", v)
	}
	if v := f.neverWorse([]*federated{{runs: []summary{one, far}}}); len(v) != 1 || v[0].Holds || v[0].Ours != "1 of 2 runs" {
		t.Errorf("%+v", v)
	}
	f.data = "textures"
	if v := f.neverWorse([]*federated{{runs: []summary{far}}}); len(v) != 0 {
		t.Errorf("other pictures: %+v", v)
	}
}

func TestAFederationStops(t *testing.T) {
	f := federations{features: []string{"glyphs"}, settings: []situation{{plan.Nobody, 3000, 4}}, repeats: 1, quick: true}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.run(ctx, experiment.Env{Jobs: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

func TestSettingsAreRead(t *testing.T) {
	got, err := parseSettings(defaultSettings, 0)
	if err != nil || len(got) != 6 || got[3] != (situation{plan.Shuffler, 60000, 0.1}) || got[3].String() != "shuffler:60000@0.1" {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "nobody", "nobody:600", "nobody:49@1", "nobody:60001@1", "nobody:600@0", "nobody:600@x", "server:600@1", "nobody:600@1,", "nobody:600@NaN", "own-site:1@1"} {
		if _, err := parseSettings(bad, 0); err == nil || !strings.Contains(err.Error(), "nobody:60000@4") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if s, err := parseSettings("own-site:12@2", 0); err != nil || s[0].pictures(700) != 700 || got[0].pictures(70000) != 60000 {
		t.Errorf("%v, %v: want sites that share all pictures, and clients with one each", s, err)
	}
	for text, want := range map[string]string{
		"shuffler:600@1": "--trust shuffler --clients 600 --budget 1", "own-site:12@2": "--trust own-site --sites 12 --budget 2", "two-servers:600@1": "--trust two-servers --clients 600 --budget 1",
		"two-servers+honest:600@1": "--trust two-servers --clients 600 --honest-budget 1", "two-servers+sites:40@1": "--trust two-servers --sites 40 --budget 1",
		"two-servers+sites+honest:40@1": "--trust two-servers --sites 40 --honest-budget 1",
	} {
		s, err := parseSetting(text)
		if got := strings.Join(s.flags(), " "); err != nil || got != want || s.String() != text || s.twoServers() != strings.HasPrefix(text, "two") || (s.pictures(9) == 9) != s.sites() {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	drawn, err := parseSettings("", 200)
	seen := map[plan.Trust]bool{}
	for _, s := range drawn {
		if again, err := parseSetting(s.String()); err != nil || again != s {
			t.Errorf("%v: %v, %v", s, again, err)
		}
		seen[s.trust] = true
	}
	if err != nil || len(drawn) != 200 || len(seen) != 3 {
		t.Errorf("%d settings with %v, %v", len(drawn), seen, err)
	}
	if _, err := parseSettings("", -1); err == nil {
		t.Error("-1 settings")
	}
}

// The files hold one picture for each client, and all test pictures, as MNIST's files do.
func TestPicturesAreDealt(t *testing.T) {
	d, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 30, TestSize: 7, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := deal(dir, d, 12, experiment.Stream(1)); err != nil {
		t.Fatal(err)
	}
	got, err := dataset.Load(t.Context(), dataset.Options{Source: dir})
	if err != nil || got.Train.Len() != 12 || got.Test.Len() != 7 {
		t.Fatalf("%+v, %v", got, err)
	}
	which := experiment.Stream(1).Perm(30)[:12]
	for i, from := range which {
		a, b := got.Train.Image(i), d.Train.Image(from)
		for j := range a {
			if off := a[j] - b[j]; off < -0.5/255-1e-9 || off > 0.5/255+1e-9 || got.Train.Labels[i] != d.Train.Labels[from] {
				t.Fatalf("picture %d is not picture %d", i, from)
			}
		}
	}
	if deal(dir, d, 31, experiment.Stream(1)) == nil {
		t.Error("31 clients with 30 pictures")
	}
}

// More than 256 classes have labels of two bytes.
func TestManyClassesAreWritten(t *testing.T) {
	d, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 3, TestSize: 2, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for classes, labels := range map[int][]int{256: {0, 255, 7}, 1000: {0, 999, 256}} {
		d.Train.Classes, d.Test.Classes, d.Train.Labels = classes, classes, labels
		dir := filepath.Join(t.TempDir(), "new", "data")
		if err := Write(dir, d); err != nil {
			t.Fatal(err)
		}
		got, err := dataset.Load(t.Context(), dataset.Options{Source: dir, Classes: classes})
		if err != nil || !slices.Equal(got.Train.Labels, labels) || !slices.Equal(got.Test.Labels, d.Test.Labels) {
			t.Errorf("%d classes: %+v, %v", classes, got, err)
		}
	}
}
