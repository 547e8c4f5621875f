package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestFirstStepsHaveTheirTimesInALine(t *testing.T) {
	rows := []map[string]any{
		{"command": "go test ./...", "first_s": 277.01, "again_s": 4.0, "until": "end"},
		{"command": "go run .", "first_s": 119.2, "again_s": 1.1, "until": "page"},
	}
	got, err := firstSteps([]*experiment.Record{{Rows: rows}})
	want := "| `go test ./...` | 4 min 38 s | 4 s |\n| `go run .` | 2 min 0 s to the page | 2 s to the page |\n"
	if err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%s, %v, want lines %s", got, err, want)
	}
	delete(rows[0], "again_s")
	if _, err := firstSteps([]*experiment.Record{{Rows: rows}}); err == nil {
		t.Error("no error for a row without its second time")
	}
}
