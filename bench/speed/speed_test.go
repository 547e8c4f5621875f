package speed

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/speed/probe"
	"github.com/hushgrad/hushgrad/fl"
)

// Every row that needs no build is measured, and none takes no time.
func TestOperationsAreMeasured(t *testing.T) {
	r, err := (&setting{}).run(t.Context(), experiment.Env{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if want := rows(true); len(r.Rows) != len(want) || len(r.Plot.Panels[0].Series) != 4 {
		t.Fatalf("%d rows of %d, %d series", len(r.Rows), len(want), len(r.Plot.Panels[0].Series))
	}
	for i, row := range r.Rows {
		if row[0] != rows(true)[i].quantity || !(row[6].(float64) > 0) || row[8] != nil {
			t.Errorf("%v", row)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&setting{}).run(ctx, experiment.Env{Quick: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for _, s := range []setting{{base: "HEAD"}, {base: "--help"}} {
		if _, err := s.run(t.Context(), experiment.Env{Quick: true}); err == nil {
			t.Errorf("--base %s with --quick was accepted", s.base)
		}
	}
}

// scripted has values in store, and writes down when it was asked.
type scripted struct {
	name  string
	value map[string][]float64
	asked *[]string
}

func (s *scripted) next(name string) (map[string]float64, error) {
	*s.asked = append(*s.asked, s.name)
	v := s.value[name][0]
	s.value[name] = s.value[name][1:]
	return map[string]float64{name: v}, nil
}

func (s *scripted) measure(_ context.Context, w probe.Work) (map[string]float64, error) {
	return s.next(w.Kind)
}
func (s *scripted) size() (map[string]float64, error)                { return s.next(binarySize) }
func (s *scripted) demo(context.Context) (map[string]float64, error) { return s.next(demoTime) }

// Both revisions are measured in turn, and medians are set beside aims.
func TestTableHasMediansAndRatios(t *testing.T) {
	encode := probe.Work{Kind: probe.Encode, Hash: "gf2", Dim: 10, Sparsity: 2, Epsilon: 1}
	list := []row{
		{Work: encode, quantity: probe.Encode, unit: "µs", scale: 1e6, aim: 4},
		{quantity: binarySize, unit: "MB", scale: 1e-6, aim: 20, atLeast: true},
		{quantity: demoTime, unit: "s", scale: 1, aim: 15},
	}
	var asked []string
	now := &scripted{"now", map[string][]float64{probe.Encode: {9e-6, 2e-6, 3e-6, 4e-6, 4e-6}, binarySize: {1e7, 1e7, 1e7, 1e7, 1e7}, demoTime: {10, 20, 30}}, &asked}
	base := &scripted{"base", map[string][]float64{probe.Encode: {8e-6, 8e-6, 1e-6, 8e-6, 8e-6}, binarySize: {4e7, 4e7, 4e7, 4e7, 4e7}, demoTime: {5, 5, 5}}, &asked}
	r, err := table(t.Context(), experiment.Env{}, list, []side{now, base}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	for i, want := range []struct {
		median, base, ratio float64
		holds               bool
		ours                string
	}{{4, 8, 0.5, true, "4 µs, from 2 to 9"}, {10, 40, 0.25, false, "10 MB, from 10 to 10"}, {20, 5, 4, false, "20 s, from 10 to 30"}} {
		row, v := r.Rows[i], r.Verdicts[i]
		for j, x := range []float64{want.median, want.base, want.ratio} {
			if got := row[[]int{6, 8, 9}[j]].(float64); math.Abs(got-x) > 1e-9 {
				t.Errorf("%v: %s is %v, want %v", row[0], r.Columns[[]int{6, 8, 9}[j]], got, x)
			}
		}
		if v.Holds != want.holds || v.Ours != want.ours || v.Quote != "" {
			t.Errorf("%+v, want %v, %s", v, want.holds, want.ours)
		}
	}
	for i, name := range asked {
		if name != []string{"now", "base"}[i%2] {
			t.Errorf("asked in the order %v", asked)
		}
	}
	if len(asked) != 2*(5+5+3) {
		t.Errorf("asked %d times", len(asked))
	}
}

// mustCheckout is checkout. It skips a test where there is none.
func mustCheckout(t *testing.T) string {
	t.Helper()
	root, err := checkout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if root == "" {
		t.Skip("no checkout")
	}
	return root
}

// A base has the files of its revision and the names of its packages, and the checkout stays as it is.
func TestBaseIsItsRevision(t *testing.T) {
	root := mustCheckout(t)
	dir := filepath.Join(t.TempDir(), "base", "source")
	if err := extract(t.Context(), root, "HEAD", dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if want, _ := run(t.Context(), root, nil, "git", "show", "HEAD:go.mod"); err != nil || string(got) != want {
		t.Errorf("go.mod is another one: %v", err)
	}
	const imports = `import ("github.com/hushgrad/hushgrad/plan"; "github.com/hushgrad/hushgrad/privacy"; "github.com/hushgrad/hushgrad/plans")`
	base := &tree{source: dir}
	if got := base.renamed(imports); got != imports {
		t.Errorf("renamed to %s", got)
	}
	if err := os.Rename(filepath.Join(dir, "plan"), filepath.Join(dir, "auto")); err != nil {
		t.Fatal(err)
	}
	if got, want := base.renamed(imports), strings.Replace(imports, `/plan"`, `/auto"`, 1); got != want {
		t.Errorf("renamed to %s, want %s", got, want)
	}
	if err := os.Mkdir(filepath.Join(dir, "privacy", "compose"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := base.renamed(imports); !strings.Contains(got, `/privacy/compose"`) {
		t.Errorf("renamed to %s", got)
	}
	var invalid *fl.ParamError
	for _, revision := range []string{"no-such-revision", "--help", "HEAD:go.mod"} {
		if err := extract(t.Context(), root, revision, dir); !errors.As(err, &invalid) || invalid.Param != "--base" {
			t.Errorf("%s: %v", revision, err)
		}
	}
}

// An interrupted run leaves no file behind, wherever it was.
func TestInterruptedRunLeavesNothing(t *testing.T) {
	mustCheckout(t)
	for _, after := range []time.Duration{0, 100 * time.Millisecond, time.Second} {
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		if _, err := (&setting{base: "HEAD"}).run(ctx, experiment.Env{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", after, err)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("after %v: left %v, %v", after, left, err)
		}
	}
}

// Both forms are measured on real reports: the shares have their length, and messages vary.
func TestBothFormsOfASumAreMeasured(t *testing.T) {
	s := sumsSetting{dim: 30, clients: 100, epsilon: 1, delta: 1e-6}
	r, err := s.run(t.Context(), experiment.Env{Quick: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if len(r.Rows) != 2 || r.Rows[0][0] == r.Rows[1][0] {
		t.Fatalf("rows %v", r.Rows)
	}
	for _, row := range r.Rows {
		if bytes, least, median := row[6].(float64), row[7].(float64), row[8].(float64); !(bytes > 32 && least > 0 && least <= median) {
			t.Errorf("%v", row)
		}
	}
	s.delta = 2
	if _, err := s.run(t.Context(), experiment.Env{Quick: true, Seed: 1}); err == nil {
		t.Error("a δ of 2 was accepted")
	}
}

// Sums are measured with and without proofs, and a site sends one report in the place of two shares.
func TestSumsWithGaussianNoiseAreMeasured(t *testing.T) {
	s := sharesSetting{clients: 10, epsilon: 1, delta: 1e-6}
	r, err := s.run(t.Context(), experiment.Env{Quick: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if len(r.Rows) != 6 {
		t.Fatalf("rows %v", r.Rows)
	}
	for _, row := range r.Rows {
		two, proved, dim := row[0] == "gaussian-shares", row[1] == "prio3", row[2].(int)
		seed := 32
		if proved {
			seed = 144
		}
		if first, second := row[4].(int), row[5].(int); two && (first != seed || second < dim || proved && second < 80*dim) || !two && (first < dim || second != 0) {
			t.Errorf("bytes of %v", row)
		}
		for i, name := range r.Columns[6:] {
			want := two && (proved || name != "prepare_ms" && name != "check_ms") || name == "encode_ms" || name == "add_first_ms" || name == "combine_ms"
			if took := row[6+i].(float64); (took > 0) != want {
				t.Errorf("%s of %v", name, row)
			}
		}
	}
	s.epsilon = -1
	if _, err := s.run(t.Context(), experiment.Env{Quick: true, Seed: 1}); err == nil {
		t.Error("an ε of -1 was accepted")
	}
}
