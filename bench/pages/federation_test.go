package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Features have a line each, in the order of the results, and what they know without any client.
func TestFederationHasALineForEachFeatures(t *testing.T) {
	row := func(features string, budget, accuracy float64, zero any) map[string]any {
		return map[string]any{"features": features, "budget": budget, "accuracy": accuracy, "low": accuracy - 0.01, "high": accuracy + 0.01, "repeats": 3., "zero_shot": zero}
	}
	in := []*experiment.Record{
		{Rows: []map[string]any{row("glyphs", 0.1, 0.96, 0.938), row("glyphs", 1, 0.97, 0.938)}},
		{Rows: []map[string]any{row("edges", 1, 0.94, nil)}},
	}
	got, err := federation(in)
	want := strings.Join([]string{
		"| features | public pretraining | zero-shot | ε = 0.1 | ε = 1 |",
		"|---|---|---|---|---|",
		"| `glyphs` | glyphs | 0.938 | 0.960 ± 0.010 | 0.970 ± 0.010 |",
		"| `edges` | none | – |  | 0.940 ± 0.010 |",
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
		{Origin: experiment.Origin{Command: "go run ./bench accuracy -seed 1"}, Rows: []map[string]any{row(0.0999, 0.9), row(0.05, 0.8), {"mechanism": "none"}}},
		{Origin: experiment.Origin{Command: "go run ./bench accuracy -data textures -seed 1"}, Rows: []map[string]any{row(0.999, 0.7)}},
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
