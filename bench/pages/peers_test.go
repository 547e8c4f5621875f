package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestPeersHaveTheirCostsInALine(t *testing.T) {
	row := map[string]any{
		"contender": "Prio3", "sends": "all", "bytes_per_client": 259440.0, "client_us_per_report": 29009.4, "server_us_per_report": 12.25,
		"server_ratio_to_first": 38.04, "client_setup_us_per_round": 1.256, "sum_us_per_round": 181.2,
	}
	got, err := peers([]*experiment.Record{{Rows: []map[string]any{row}}})
	if want := "| Prio3: all | 259440 | 29009 | 12.2 | 38.0 | 1.26, 181 |\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%s, %v, want a line %s", got, err, want)
	}
	delete(row, "sum_us_per_round")
	if _, err := peers([]*experiment.Record{{Rows: []map[string]any{row}}}); err == nil {
		t.Error("no error for a row without its sum")
	}
}
