package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/speed/probe"
)

// The tables have the times of reports and nothing else, in their units.
func TestSpeedTables(t *testing.T) {
	row := func(operation string, dim, median float64) map[string]any {
		return map[string]any{"operation": operation, "hash": "gf2", "dim": dim, "sparsity": 8., "epsilon": 1., "unit": "", "median": median}
	}
	in := []*experiment.Record{{Rows: []map[string]any{
		row(probe.Decode, 1024, 71.6), row(probe.Decode, 2048, 90), row(probe.Encode, 7850, 7.25),
		{"operation": probe.Open, "unit": "s", "median": 0.3}, {"operation": probe.PlanTime, "unit": "s", "median": 0.4},
	}}}
	server, err := speedOfServer(in)
	if err != nil || !strings.Contains(server, "s = 8, ε = 1 | 72 | 90 |") || strings.Count(server, "\n") > 3 {
		t.Errorf("server: %v\n%s", err, server)
	}
	client, err := speedOfClient(in)
	if err != nil || !strings.Contains(client, "| encode a gradient, d = 7850, s = 8 | 7.2 |") || strings.Count(client, "\n") > 3 {
		t.Errorf("client: %v\n%s", err, client)
	}
}
