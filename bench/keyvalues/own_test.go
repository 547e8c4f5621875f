package keyvalues

import (
	"fmt"
	"math"
	"slices"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
	_ "github.com/hushgrad/hushgrad/privunit"
)

// Mechanisms of --with stand beside the others and change none of them: a sparse one, one for pairs and a dense one. A sparse
// mechanism has about the error of the same mechanism in the figure, which has other randomness and the paper's number of slots. The run is seeded.
func TestMechanismsOfOnesOwnStandBesideTheOthers(t *testing.T) {
	run := func(args ...string) *experiment.Result {
		t.Helper()
		r, err := start(t, t.Context(), "fig13", experiment.Env{Quick: true, Jobs: 2, Seed: 1, Repeats: 3}, append([]string{"--clients", "300"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	own := []string{"collision:sparsity=s", "pckv-ue:padding=s", "privunit"}
	plain, all := run(), run("--with", own[0], "--with", own[1], "--with", own[2])
	at := map[string]map[string]float64{}
	var others []experiment.Row
	for _, row := range all.Rows {
		name := row[5].(string)
		if !slices.Contains(own, name) {
			others = append(others, row)
		}
		if at[name] == nil {
			at[name] = map[string]float64{}
		}
		at[name][fmt.Sprint(row[3], row[4])] = row[7].(float64)
	}
	if !slices.EqualFunc(others, plain.Rows, func(a, b experiment.Row) bool { return slices.Equal(a, b) }) {
		t.Error("the other mechanisms have other numbers")
	}
	for _, name := range own {
		if len(at[name]) != 6 { // 3 ε for each of 2 sparsities
			t.Errorf("%s has %d rows", name, len(at[name]))
		}
	}
	for where, want := range at["Collision"] {
		if got := at[own[0]][where]; math.Abs(got-want) > 1 {
			t.Errorf("%s: %g, want about %g", where, got, want)
		}
	}
	for _, p := range all.Plot.Panels {
		for _, name := range own {
			if !slices.ContainsFunc(p.Series, func(s figure.Series) bool { return s.Name == name }) {
				t.Errorf("the panel %s is without %s", p.Title, name)
			}
		}
	}
}

// A mechanism that does not count entries has the scale of the vectors' norm, and the others the worth of one entry.
func TestScaleOfMechanismsOfOnesOwn(t *testing.T) {
	for name, want := range map[string]float64{"privunit": 2, "collision:sparsity=s": 0, "pckv-ue:padding=s": 0} {
		f := flag.NewFlagSet("test", flag.ContinueOnError)
		with := experiment.BindWith(f)
		if err := f.Parse([]string{"--with", name}); err != nil {
			t.Fatal(err)
		}
		own, err := with()
		if err != nil {
			t.Fatal(err)
		}
		settings, err := ofOwn(own[0]).settings(shape{clients: 100, dim: 64, sparsity: 4}, 1)
		if err != nil || len(settings) != 1 || settings[0].scale != want {
			t.Errorf("%s: %+v, %v, want the scale %g", name, settings, err, want)
		}
	}
}
