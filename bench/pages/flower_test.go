package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// A line says which ε holds against whom, rounded up, and a dash where none does.
func TestFlowerSaysWhatHolds(t *testing.T) {
	row := func(name string, report, run any, delta float64) map[string]any {
		return map[string]any{
			"name": name, "epsilon": 4.0, "against": "everybody", "epsilon_report": report, "epsilon_run": run, "delta": delta,
			"accuracy": 0.5, "low": 0.4, "high": 0.6, "repeats": 3.0, "bytes": 34.0, "seconds": 1.25,
		}
	}
	got, err := flower([]*experiment.Record{{Rows: []map[string]any{row("ours", 4.0, 80.0, 0), row("other", nil, 3.5111, 1e-5)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range []string{
		"| training | ε of the run | against | ε asked | ε of a report | accuracy |",
		"| ours | 80 | everybody | 4 | 4 | 0.500", "| other | 3.52 at δ = 1e-05 | everybody | 4 | – | 0.500", "| 34 | 1.2 |",
	} {
		if !strings.Contains(got, cells) {
			t.Errorf("no line with %s in\n%s", cells, got)
		}
	}
	bad := row("ours", 4.0, 80.0, 0)
	delete(bad, "bytes")
	if _, err := flower([]*experiment.Record{{Rows: []map[string]any{bad}}}); err == nil {
		t.Error("no error for a row without bytes")
	}
}
