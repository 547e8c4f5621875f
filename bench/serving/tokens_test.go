package serving

import (
	"context"
	"strings"
	"testing"
)

// Every rate of the issuer's table comes from tokens that verify, and from a process whose time can be read.
func issuesAll(ctx context.Context, t *testing.T, b *bench) {
	all := (&tokenBench{bench: b, tokens: 64, ahead: 4}).measurements()
	for _, m := range all {
		values, err := m.measure(ctx)
		if err != nil {
			t.Fatalf("%s, %s: %v", m.what, m.setting, err)
		}
		for i, v := range values {
			if !(v > 0) {
				t.Errorf("%s, %s: value %d is %g", m.what, m.setting, i, v)
			}
		}
		m.values = [][]float64{values}
	}
	if r := reportTokens(all, nil); len(r.Rows) != 4 || len(r.Verdicts) != 2 {
		t.Errorf("%d rows, %d verdicts", len(r.Rows), len(r.Verdicts))
	}
}

// What decides is the processor time, which other work on the machine makes wait, and not the rate.
func TestTheProcessorTimeOfATokenDecides(t *testing.T) {
	for seconds, holds := range map[float64]bool{0.0009: true, 0.0011: false} {
		all := (&tokenBench{bench: &bench{}, tokens: 4096, ahead: 16}).measurements()
		for _, m := range all {
			m.values = [][]float64{{500, seconds, 1e-4}}
		}
		all[0].values = [][]float64{{1250, 0.0008}}
		r := reportTokens(all, nil)
		for _, v := range r.Verdicts {
			if v.Holds != holds || !strings.Contains(v.Claim, "tokens of 16 rounds per call, 256 clients") {
				t.Errorf("%g s: %+v", seconds, v)
			}
		}
		if row := r.Rows[2]; len(r.Verdicts) != 2 || row[6] != 1e6*seconds || row[7] != 1/seconds || row[8] != 100.0 || row[9] != 16 || r.Rows[0][8] != nil {
			t.Errorf("%d verdicts, row %v", len(r.Verdicts), row)
		}
	}
}
