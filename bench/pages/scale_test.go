package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/speed/probe"
)

// scaleRecord has a round that was simulated and one that was computed.
func scaleRecord() *experiment.Record {
	row := map[string]any{"simulated": true}
	for i, name := range []string{"clients", "reports", "reports_per_second", "bytes_per_report", "server_core_seconds_per_million", "client_core_seconds_per_million", "peak_server_bytes", "journal_bytes", "price_per_million", "dropped", "sent_again", "late_refused", "liars", "pull", "pull_stderr", "pull_bound", "error", "error_predicted"} {
		row[name] = float64(i + 1)
	}
	row["clients"], row["price_core_hour"], row["price_gb_in"] = 5000.0, 1.0, 2.0
	row["peak_server_bytes"], row["journal_bytes"] = 7e6, 8e6
	return &experiment.Record{Name: "scale", Rows: []map[string]any{row, {"simulated": false, "clients": 1e9, "rounds": 1.0, "server_core_seconds": 7200.0, "bytes": 3e9, "price": 4.0, "error_exact": 0.5}, {"simulated": false, "clients": 1e12, "rounds": 891.0, "server_core_seconds": 7200.0, "bytes": 5.632e12, "price": 4.0, "error_exact": 0.5}}}
}

func TestScaleTablesTellWhatWasSimulated(t *testing.T) {
	in := []*experiment.Record{scaleRecord()}
	for name, c := range map[string]struct {
		table func([]*experiment.Record) (string, error)
		want  string
	}{
		"cost":       {scaled, "| 5 000 | 2 | 3 | 4.00 | 5 | 6 | 7 MB | 8 MB | 9 |"},
		"population": {population, "| 5 000 | 10 | 11 | 12 | 13 | 14.0000 ± 15.0000 | 16.0000 | 17 | 18 |"},
		"computed":   {extrapolated, "| 1 000 000 000 | 1 | 2 | 3 GB | 4 | 0.5 |\n| 1 000 000 000 000 | 891 | 2 | 5.63 TB | 4 | 0.5 |"},
	} {
		got, err := c.table(in)
		if err != nil || !strings.HasSuffix(got, "|\n"+c.want+"\n") {
			t.Errorf("%s: error %v, want %s in\n%s", name, err, c.want, got)
		}
	}
	delete(in[0].Rows[0], "pull")
	if _, err := population(in); err == nil {
		t.Error("no error for a row without a number")
	}
}

// A row of the sizing table is the arithmetic that the page describes.
func TestSizingIsArithmetic(t *testing.T) {
	serve := &experiment.Record{Name: "serve", Rows: []map[string]any{
		{"what": "journal in memory", "setting": "4096 reports per message, s = 64", "server_us_per_report": 1e9},
		{"what": "journal on disk", "setting": "4096 reports per message, s = 64, ε = 5", "server_us_per_report": 0.36},
		{"what": "journal on disk", "setting": "sealed with token, 2048 at once", "server_us_per_report": 86.4},
	}}
	add := func(operation, hash string, sparsity, dim, ns float64) map[string]any {
		return map[string]any{"operation": operation, "hash": hash, "sparsity": sparsity, "dim": dim, "median": ns}
	}
	speed := &experiment.Record{Name: "speed", Rows: []map[string]any{
		add(probe.Decode, "gf2", 64, 1<<14, 100), add(probe.Decode, "gf2", 64, 1<<20, 740),
		add(probe.Decode, "gf2", 8, 1<<20, 1e9), add(probe.Decode, "ideal", 64, 1<<20, 1e9), add(probe.Encode, "gf2", 64, 1<<20, 1e9),
	}}
	largest := scaleRecord()
	largest.Rows = append([]map[string]any{{"simulated": true, "bytes_per_report": 1e9, "price_core_hour": 1e9, "price_gb_in": 1e9}}, largest.Rows...)
	got, err := sizing([]*experiment.Record{largest, serve, speed})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		// 10^9 × 0.36 µs = 360 s = 0.1 h at 1, and 4 GB at 2 are 8.1; 3·360/86400 cores.
		"| 1 000 000 000 | 7 850 | in groups of 4096 | 0.36 | 0.1 | 0.013 | 1 | 4 | 8.1 | 0.0081 |",
		// 0.64 µs more: 1000 s.
		"| 1 000 000 000 | 1 048 576 | in groups of 4096 | 1 | 0.278 | 0.035 | 1 | 4 | 8.3 | 0.0083 |",
		// 86400 s are 3 cores at the peak, which two servers have.
		// A token of 354 bytes and a seal of 48 come to the 4 of a report: 406 GB at 2, and 24 h at 1.
		"| 1 000 000 000 | 7 850 | sealed, with tokens | 86.4 | 24 | 3 | 2 | 406 | 8.4e+02 | 0.84 |",
		"| 1 000 000 | 7 850 | in groups of 4096 | 0.36 | 0.0001 | 1.3e-05 | 1 | 0.004 |",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
	for _, in := range [][]*experiment.Record{{scaleRecord()}, {{}, serve, speed}, {scaleRecord(), {}, speed}, {scaleRecord(), serve, {}}} {
		if _, err := sizing(in); err == nil {
			t.Errorf("no error for %d results", len(in))
		}
	}
}
