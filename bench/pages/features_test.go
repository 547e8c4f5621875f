package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// ran is a row of a planned run, or of another mechanism.
func ran(features, mechanism string, epsilon, accuracy any, more map[string]any) map[string]any {
	row := map[string]any{
		"features": features, "mechanism": mechanism, "epsilon_central": epsilon, "accuracy": accuracy, "low": accuracy, "high": accuracy,
		"repeats": 3., "epsilon_local": 2., "epsilon_local_all": 60., "bytes_per_report": 6., "quorum": 100., "dropout": 0.1,
	}
	for k, v := range more {
		row[k] = v
	}
	return row
}

// Features without public pretraining stand before those with, at equal ε, and beside the planned runs
// stand what results have: of their own rows, else of the columns.
func TestFeaturesStandBesideEachOther(t *testing.T) {
	own := map[string]any{"public_pretraining": "glyphs", "zero_shot": 0.938, "attack_one_report": 0.8702, "attack_linked": 1., "attack_labels_found": 0.5, "trusted_gaussian": 0.97, "no_privacy": 0.98}
	none := map[string]any{"public_pretraining": "none", "zero_shot": nil, "attack_one_report": 0.75, "attack_linked": 0.9, "trusted_gaussian": nil, "no_privacy": 0.9}
	in := []*experiment.Record{{Rows: []map[string]any{ran("glyphs", "auto", 0.0998, 0.96, own)}}, {Rows: []map[string]any{
		ran("edges", "auto", 0.099, 0.91, none), ran("edges", "central", 0.1, 0.92, none), ran("edges", "auto", 0.97, 0.93, none),
	}}}
	got, err := accuracyByFeatures(in)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"| central ε | row | no public pretraining, `edges` | public glyphs, `glyphs` |",
		"|---|---|---|---|",
		"| no client | zero-shot: the features alone | – | 0.938 |",
		"| 0.1 | planned (`auto`) | 0.910 ± 0.000 | 0.960 ± 0.000 |",
		"| 0.1 | ε of one report, of all of a client's | 2, 60 | 2, 60 |",
		"| 0.1 | found out, at most: from one report, from all linked | 75.0 %, 90.0 % | 87.1 %, 100.0 % |",
		"| 0.1 | labels that an attack finds, all reports linked | – | 50 % |",
		"| 0.1 | Gaussian noise of a trusted server | 0.920 ± 0.000 | 0.970 |",
		"| 1 | planned (`auto`) | 0.930 ± 0.000 | – |",
		"| 1 | ε of one report, of all of a client's | 2, 60 | – |",
		"| 1 | found out, at most: from one report, from all linked | 75.0 %, 90.0 % | – |",
		"| no limit | no privacy | 0.900 | 0.980 |",
		"|  | bytes per report, planned | 6 | 6 |",
	}, "\n") + "\n"
	if got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
}

// The tables by central ε have the same lines, where the results have them.
func TestWhatStandsBesideThePlan(t *testing.T) {
	own := map[string]any{"zero_shot": nil, "attack_one_report": 0.8702, "attack_linked": 1.}
	in := []*experiment.Record{{Rows: []map[string]any{ran("edges", "auto", 0.0998, 0.96, own), ran("edges", "auto", 1., 0.97, own)}}}
	got, err := accuracyByCentral(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| zero-shot: the features alone | – | – | – | – | – | – |  |", "| found out, at most: from one report, from all linked | 87.1 %, 100.0 % | – | – | 87.1 %, 100.0 % | – | – |  |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, labelsFound.name) {
		t.Errorf("a line of what was not measured:\n%s", got)
	}
}

func TestDropouts(t *testing.T) {
	got, err := accuracyByDropout([]*experiment.Record{{Rows: []map[string]any{ran("glyphs", "auto", 0.249, 0.96, map[string]any{"attack_one_report": 0.75, "attack_linked": 1.}), ran("glyphs", "none", nil, 0.98, nil)}}})
	for _, want := range []string{
		"| 10 %: planned (`auto`), at least 100 reports | 0.960 ± 0.000 (2, 60) | – | 6 |\n", "| 10 %: no privacy | 0.980 ± 0.000 | 0.980 ± 0.000 | 6 |\n",
		"| 10 %: " + foundOut.name + " | 75.0 %, 100.0 % | – |  |\n",
	} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("the table is\n%s, %v, want the line\n%s", got, err, want)
		}
	}
}
