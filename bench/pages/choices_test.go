package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestChoicesInBold(t *testing.T) {
	row := func(pictures, features string, chosen bool, accuracy float64) map[string]any {
		return map[string]any{"pictures": pictures, "trust": "shuffler", "clients": 60000., "budget": 1., "features": features, "chosen": chosen, "accuracy": accuracy, "error": .01}
	}
	in := []*experiment.Record{{Rows: []map[string]any{row("digits", "scatter", false, .5), row("digits", "edges", true, .75), row("letters", "scatter", true, .25), row("letters", "edges", false, .125)}}}
	got, err := choices(in)
	want := `| features | digits, shuffler, 60 000 clients, ε = 1 | letters, shuffler, 60 000 clients, ε = 1 |
|---|---|---|
| ` + "`edges`" + ` | **0.750 ± 0.010** | 0.125 ± 0.010 |
| ` + "`scatter`" + ` | 0.500 ± 0.010 | **0.250 ± 0.010** |`
	if err != nil || strings.TrimSpace(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := choices(nil); err == nil {
		t.Error("no results make a table")
	}
	delete(in[0].Rows[0], "error")
	if _, err := choices(in); err == nil {
		t.Error("a row without an interval makes a table")
	}
}
