package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestNumbersAreRoundedDownAndGrouped(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.33014: "0.33", 51.43: "51.4", 999.4: "999", 1000: "1 000", 5999: "5 990", 49_367: "49 300", 2_319_999: "2 310 000", 1_000_999: "1 000 000",
	} {
		if got := counted(v); got != want {
			t.Errorf("%g is written %q, want %q", v, got, want)
		}
	}
}

// A line has one number of shards, and each cell is its column's.
func TestShardsAreListed(t *testing.T) {
	row := map[string]any{}
	for i, name := range []string{"shards", "processors_of_members", "reports_per_second", "low", "high", "member_us_per_report", "broker_reading_us_per_report", "broker_publishing_us_per_report"} {
		row[name] = float64(i + 1)
	}
	row["reports_per_second"], row["broker_share"] = 12_948.7, 0.0444
	in := []*experiment.Record{{Rows: []map[string]any{row, row}}}
	const line = "| 1 | 2 | 12 900 (4 to 5) | 6 | 7 | 8 | 4.4 % |\n"
	if got, err := shards(in); err != nil || !strings.HasSuffix(got, "|\n"+line+line) || strings.Count(got, "\n") != 4 {
		t.Errorf("%v, want %s twice in\n%s", err, line, got)
	}
	delete(row, "low")
	if _, err := shards(in); err == nil {
		t.Error("no error for a row without a number")
	}
}

// A line has what a core gives first, and each cell is its column's.
func TestTokensAreListed(t *testing.T) {
	row := map[string]any{"what": "issuer", "setting": "one", "unit": "u", "per_second_and_core": 940.3, "us_each": 987.9, "median": 3.0, "low": 2.0, "high": 4.0}
	in := []*experiment.Record{{Rows: []map[string]any{row}}}
	if got, err := tokens(in); err != nil || !strings.HasSuffix(got, "|\n| issuer | one | 940 | 988 | 3 (2 to 4) u |\n") {
		t.Errorf("%v, %s", err, got)
	}
	delete(row, "us_each")
	if _, err := tokens(in); err == nil {
		t.Error("no error for a row without a number")
	}
}

// A line has one kind of messages with the servers that got them beside one another, and what is
// not a rate of a server stands below.
func TestServingPutsServersBesideOneAnother(t *testing.T) {
	row := func(what, setting string, median float64, processor any) map[string]any {
		return map[string]any{"what": what, "setting": setting, "unit": "u", "median": median, "low": median - 1, "high": median + 1, "server_us_per_report": processor}
	}
	got, err := serving([]*experiment.Record{{Rows: []map[string]any{
		row("gRPC alone", "64", 300, 0.5), row("journal on disk", "64", 100, 1.25), row("gRPC alone", "1", 50, 2.0), row("recovery", "slow", 7, nil),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"| 64 | 300 | 0.5 |  |  | 100 | 1.25 |", "| 1 | 50 | 2 |  |  |  |  |", "| recovery | slow | 7 (6 to 8) u |"} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
	if _, err := serving([]*experiment.Record{{Rows: []map[string]any{row("gRPC alone", "64", 300, nil)}}}); err == nil {
		t.Error("no error for a rate without processor time")
	}
}
