package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// A run without liars stands in the lines of all attacks. Columns go up. Alarms are named.
func TestLiarsHaveALineForEachAttack(t *testing.T) {
	row := func(trust, mechanism, attack string, share, accuracy float64, alarms any) map[string]any {
		return map[string]any{
			"trust": trust, "clients": 6000., "budget": 1., "mechanism": mechanism, "attack": attack, "share": share, "accuracy": accuracy, "low": accuracy - 0.01,
			"high": accuracy + 0.01, "repeats": 2., "alarms": alarms,
		}
	}
	in := []*experiment.Record{{Rows: []map[string]any{
		row("shuffler", "coco", "bias", 0.05, 0.1, 29.5), row("shuffler", "coco", "bias", 0, 0.97, 0.), row("shuffler", "coco", "reverse", 0.05, 0.96, 0.),
		row("none", "krum", "bias", 0.05, 0.9, nil),
	}}}
	got, err := liars(in)
	want := strings.Join([]string{
		"| who is trusted | mechanism | attack | 0 % lie | 5 % lie |",
		"|---|---|---|---|---|",
		"| shuffler, 6000 clients, ε = 1 | `coco` | bias | 0.970 ± 0.010 | 0.100 ± 0.010, 29.5 alarms |",
		"| shuffler, 6000 clients, ε = 1 | `coco` | reverse | 0.970 ± 0.010 | 0.960 ± 0.010 |",
		"| no privacy, 6000 clients | `krum` | bias | – | 0.900 ± 0.010 |",
	}, "\n") + "\n"
	if err != nil || got != want {
		t.Errorf("%v, the table is\n%s\nwant\n%s", err, got, want)
	}
	// Records have columns that older ones lack.
	compared := row("shuffler", "coco", "backdoor", 0.01, 0.96, 0.)
	compared["compared"], compared["public_alarms"], compared["noticed"], compared["first_public_alarm"], compared["backdoor"] = true, 12.5, 1., 4., 0.25
	honest, biased := row("shuffler", "coco", "backdoor", 0, 0.97, 0.), row("shuffler", "coco", "bias", 0.01, 0.9, 0.)
	honest["compared"], biased["compared"] = true, true
	got, err = liars([]*experiment.Record{{Rows: []map[string]any{honest, biased}}, {Rows: []map[string]any{compared}}})
	if line := "| `coco`, compared | bias | 0.970 ± 0.010 | 0.900 ± 0.010 |\n"; err != nil || !strings.Contains(got, line) {
		t.Errorf("%v, the table is\n%s\nwant the line\n%s", err, got, line)
	}
	if line := "| shuffler, 6000 clients, ε = 1 | `coco`, compared | backdoor | – | 0.960 ± 0.010, 1 of 2 runs noticed by round 4, 0.250 marked |\n"; err != nil || !strings.HasSuffix(got, line) {
		t.Errorf("%v, the table is\n%s\nwant the line\n%s", err, got, line)
	}
	delete(in[0].Rows[1], "alarms")
	if _, err := liars(in); err == nil {
		t.Error("a row without a column was accepted")
	}
}
