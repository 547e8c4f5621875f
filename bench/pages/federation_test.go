package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Federations have a line each, in the order of the results. What features know without any client stands above, and what they
// reach without privacy below.
func TestFederationHasALineForEachFederation(t *testing.T) {
	row := func(features, trust string, budget, accuracy float64, zero any) map[string]any {
		return map[string]any{
			"features": features, "trust": trust, "clients": 60000., "budget": budget, "accuracy": accuracy, "low": accuracy - 0.01, "high": accuracy + 0.01, "repeats": 3.,
			"zero_shot": zero, "without_privacy": 0.98,
		}
	}
	refused := row("edges", "nobody", 0.1, 0, nil)
	refused["accuracy"], refused["without_privacy"] = nil, nil
	in := []*experiment.Record{
		{Rows: []map[string]any{row("glyphs", "nobody", 0.1, 0.96, 0.938), row("glyphs", "shuffler", 0.1, 0.97, 0.938)}},
		{Rows: []map[string]any{refused, row("edges", "nobody", 1, 0.94, nil)}},
	}
	got, err := federation(in)
	want := strings.Join([]string{
		"| who is trusted | clients | ε of all of a client's reports | `glyphs` | `edges` |",
		"|---|---|---|---|---|",
		"| – | none | – | 0.938 | – |",
		"| nobody | 60 000 | 0.1 | 0.960 ± 0.010 | refused |",
		"| shuffler | 60 000 | 0.1 | 0.970 ± 0.010 | – |",
		"| nobody | 60 000 | 1 | – | 0.940 ± 0.010 |",
		"| everybody | 60 000 | no privacy | 0.980 | 0.980 |",
	}, "\n") + "\n"
	if err != nil || got != want {
		t.Errorf("%v, the table is\n%s\nwant\n%s", err, got, want)
	}
}

// Kinds of public pictures stand beside one another. Runs that were asked for another ε have no column.
func TestPublicFiguresStandBesideEachOther(t *testing.T) {
	row := func(epsilon, accuracy float64) map[string]any {
		return map[string]any{"mechanism": "auto", "features": "edges", "epsilon_central": epsilon, "accuracy": accuracy, "low": accuracy, "high": accuracy, "repeats": 3.}
	}
	in := []*experiment.Record{
		{Origin: experiment.Origin{Command: "go run ./bench accuracy --seed 1"}, Rows: []map[string]any{row(0.0999, 0.9), row(0.05, 0.8), {"mechanism": "none"}}},
		{Origin: experiment.Origin{Command: "go run ./bench accuracy --data textures --seed 1"}, Rows: []map[string]any{row(0.999, 0.7)}},
	}
	got, err := publicFigures(in)
	want := strings.Join([]string{
		"| features | generated digits, ε = 0.1 | textures, ε = 1 |",
		"|---|---|---|",
		"| `edges` | 0.900 ± 0.000 | 0.700 ± 0.000 |",
	}, "\n") + "\n"
	if err != nil || got != want {
		t.Errorf("%v, the table is\n%s\nwant\n%s", err, got, want)
	}
}

// Methods have a line each. Models of different sizes and budgets have a column each. What there is without privacy stands below.
func TestSitesHaveALineForEachMethod(t *testing.T) {
	row := func(method, holds string, dim, budget, accuracy float64) map[string]any {
		return map[string]any{"method": method, "holds_against": holds, "features": "edges", "sites": 12., "dim": dim, "budget": budget, "accuracy": accuracy, "low": accuracy - 0.01, "high": accuracy + 0.01, "repeats": 3.}
	}
	in := []*experiment.Record{{Rows: []map[string]any{
		row("none", "nobody", 1970, 0, 0.98), row("gaussian-site", "everybody outside the site", 1970, 1, 0.9), row("alone", "everybody outside the site", 1970, 1, 0.6),
		row("gaussian-site", "everybody outside the site", 1970, 8, 0.95), row("gaussian-site", "everybody outside the site", 203530, 8, 0.93), row("none", "nobody", 203530, 0, 0.97),
	}}}
	got, err := siteFigures(in)
	want := strings.Join([]string{
		"| method | ε holds against | 12 sites, `edges`, 1 970 weights, ε = 1 | 12 sites, `edges`, 1 970 weights, ε = 8 | 12 sites, `edges`, 203 530 weights, ε = 8 |",
		"|---|---|---|---|---|",
		"| `gaussian-site` | everybody outside the site | 0.900 ± 0.010 | 0.950 ± 0.010 | 0.930 ± 0.010 |",
		"| `alone` | everybody outside the site | 0.600 ± 0.010 | – | – |",
		"| no privacy | nobody | 0.980 ± 0.010 | 0.980 ± 0.010 | 0.970 ± 0.010 |",
	}, "\n") + "\n"
	if err != nil || got != want {
		t.Errorf("%v, the table is\n%s\nwant\n%s", err, got, want)
	}
}
