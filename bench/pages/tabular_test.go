package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestTablesHaveTheirIntervals(t *testing.T) {
	rows := []map[string]any{
		{"task": "linear regression", "measure": "R²", "method": "exact optimum", "score": 0.75, "low": 0.7, "high": 0.8, "difference": nil},
		{"task": "linear regression", "measure": "R²", "method": "trusted server", "score": 0.74, "low": 0.7, "high": 0.78, "difference": -0.01, "difference_low": -0.02, "difference_high": 0.001},
	}
	got, err := tabular([]*experiment.Record{{Rows: rows}})
	want := "| linear regression, R² | exact optimum | 0.750 [0.700, 0.800] |  |\n| linear regression, R² | trusted server | 0.740 [0.700, 0.780] | -0.010 [-0.020, +0.001] |\n"
	if err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%s, %v, want lines %s", got, err, want)
	}
	delete(rows[0], "low")
	if _, err := tabular([]*experiment.Record{{Rows: rows}}); err == nil {
		t.Error("no error for a row without its interval")
	}
}
