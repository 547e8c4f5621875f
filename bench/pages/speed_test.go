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

// A line for each setting, with the error beside the other mechanism's.
func TestTableOfDenseReports(t *testing.T) {
	in := []*experiment.Record{{Rows: []map[string]any{{"epsilon": 4., "candidates": 256., "bytes": 5., "error": 287.3, "ratio": 1.0138, "encode_microseconds": 61.2, "decode_nanoseconds": 0.0524}}}}
	if got, err := dense(in); err != nil || !strings.HasSuffix(got, "| 4 | 256 | 5 | 287.3 | 1.014 | 61 | 0.052 |\n") {
		t.Errorf("%v\n%s", err, got)
	}
}

// A line for each operation, and one for all parts that are small.
func TestTablesOfInstructionsAndParts(t *testing.T) {
	counted := []*experiment.Record{{Rows: []map[string]any{
		{"operation": probe.Decode, "dim": 1024., "sparsity": 64., "epsilon": 5., "instructions": 1684.4, "base": 5677., "ratio": 0.2967},
	}}}
	if got, err := instructions(counted); err != nil || !strings.Contains(got, "| "+probe.Decode+", d = 1024, s = 64, ε = 5 | 1684 | 5677 | 0.30 |") {
		t.Errorf("%v\n%s", err, got)
	}
	part := func(name string, code, data float64) map[string]any {
		return map[string]any{"part": name, "megabytes": code + data, "code": code, "data": data, "tables": 0.}
	}
	built := []*experiment.Record{{Rows: []map[string]any{part("big", 2, 1), part("b", 0.1, 0), part("c", 0.1, 0.1)}}}
	if got, err := parts(built); err != nil || !strings.Contains(got, "| big | 3.0 | 2.0 | 1.0 | 0.0 |\n| 2 others | 0.3 | 0.2 | 0.1 | 0.0 |\n") {
		t.Errorf("%v\n%s", err, got)
	}
}

// A site has no second server and no proof: its cells are empty.
func TestSharesAreListed(t *testing.T) {
	row := func(mechanism, proof string, second, check, add, release float64) map[string]any {
		return map[string]any{"mechanism": mechanism, "proof": proof, "prepare_ms": check, "check_ms": check, "dim": 1000., "first_bytes": 32., "second_bytes": second, "encode_ms": 1.2345, "add_first_ms": 0.0125, "add_second_ms": add, "release_ms": release, "combine_ms": 3.}
	}
	in := []*experiment.Record{{Name: "shares", Rows: []map[string]any{row("gaussian-shares", "prio3", 2560, 0.8, 0.5, 12), row("gaussian-site", "", 0, 0, 0, 0)}}}
	got, err := shares(in)
	for _, want := range []string{"| `gaussian-shares` with `proof=prio3` | 1000 | 32 | 2560 | 1.23 | 0.8 | 0.8 | 0.0125 | 0.5 | 12 | 3 |\n", "| `gaussian-site` | 1000 | 32 |  | 1.23 |  |  | 0.0125 |  |  | 3 |\n"} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%v: %s\nlacks %s", err, got, want)
		}
	}
	delete(in[0].Rows[0], "encode_ms")
	if _, err := shares(in); err == nil {
		t.Error("a row without a column was accepted")
	}
}
