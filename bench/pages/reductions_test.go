package pages

import (
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Two settings: Collision has half and a quarter of the error of PrivKV, and the error of the others.
func TestReductionsAreAveraged(t *testing.T) {
	r := &experiment.Record{}
	for _, epsilon := range []float64{1, 2} {
		for _, name := range append([]string{"Collision", "CoCo"}, rivals...) {
			e := 0.0
			if name == "PrivKV" {
				e = epsilon * math.Ln2
			}
			r.Rows = append(r.Rows, map[string]any{"figure": 7., "clients": 1000., "dim": 8., "sparsity": 4., "epsilon": epsilon, "mechanism": name, "metric": "frequency_mae", "log_error": e})
		}
	}
	got, err := reductions([]*experiment.Record{r})
	want := "| 7 | frequency_mae, n = 1000, d = 8 | 62 % | 0 % | 0 % | 0 % | 16 % | more than 60 % | 0 % |"
	if err != nil || !strings.Contains(got, want) {
		t.Errorf("%v\n%s\nwant %s", err, got, want)
	}
	r.Rows = r.Rows[1:] // no Collision at the first ε
	if _, err := reductions([]*experiment.Record{r}); err == nil {
		t.Error("a missing mechanism is not found")
	}
}
