package serving

import (
	"io"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/progress"
)

// The verdict compares the medians, and the shares are shares of the processor time.
func TestTheReportOfShardsComparesMedians(t *testing.T) {
	one := []shardRate{{100, 8e-6, 1e-6, 1e-6}, {110, 8e-6, 1e-6, 1e-6}, {500, 8e-6, 1e-6, 1e-6}}
	for rate, holds := range map[float64]bool{1.6 * 110: true, 1.59 * 110: false} {
		r := shardsReport(map[int][]shardRate{1: one, 2: {{rate, 8e-6, 2e-6, 0}}}, 3, 0.5)
		if v := r.Verdicts[0]; v.Holds != holds || !strings.Contains(v.Detail, "against 110 reports/s") {
			t.Errorf("%+v at %g", v, rate)
		}
		if share := r.Rows[0][8].(float64); share < 0.19 || share > 0.21 {
			t.Errorf("the broker's share is %v, want 0.2", share)
		}
	}
}

// With -long: both clusters count everything, in processes of their own.
func TestShardsAreMeasured(t *testing.T) {
	if !*long {
		t.Skip("needs -long")
	}
	r, err := runShards(t.Context(), experiment.Env{Seed: 1, Jobs: 2, Quick: true, Progress: progress.New(io.Discard, "")}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if rate := row[2].(float64); rate < 100 || rate > 1e6 {
			t.Errorf("%v reports/s", rate)
		}
	}
}
