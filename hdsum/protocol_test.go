package hdsum

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// Cost predicts what clients send for zeros: the number of messages and of
// entries, and the length of a plain report within 35 %.
func TestCostPredictsReports(t *testing.T) {
	for name, c := range map[string]GradientConfig{
		"bbgn":               {Config: Config{Clients: 500, Epsilon: 1, Base: BBGN}, Dim: 200, Levels: 1},
		"gkmps":              {Config: Config{Clients: 500, Epsilon: 1, Base: GKMPS}, Dim: 60, Levels: 1},
		"gkmps, few clients": {Config: Config{Clients: 10, Epsilon: 1, Base: GKMPS}, Dim: 16, Levels: 3},
		"gkmps, tight":       {Config: Config{Clients: 6000, Epsilon: 1, Base: GKMPS, Calibration: CalibrationTight}, Dim: 500, Levels: 1},
		"gkmps, 4 levels":    {Config: Config{Clients: 5000, Epsilon: 4, Base: GKMPS}, Dim: 16, Levels: 4},
	} {
		c.Delta, c.Relation, c.ClipNorm, c.Range, c.Beta = 1e-6, fl.ReplaceOne, 1, 2, 0.1
		g := newGradients(t, c)
		rng := newRand(70)
		const reports = 20
		var entries, bytes, messages float64
		for range reports {
			m, err := g.Encode(make([]float64, c.Dim), rng)
			if err != nil {
				t.Fatal(err)
			}
			messages += float64(m.Messages()) / reports
			entries += float64(len(m)) / reports
			bytes += float64(1+len(appendBody(nil, m))) / reports
		}
		cost := g.Cost()
		_, variance := messageLaw(g.layout)
		variance /= float64(c.Clients)
		if math.Abs(messages-cost.Messages) > deviations*math.Sqrt(variance/reports)+1e-6*cost.Messages {
			t.Errorf("%s: %.0f messages, announced %.0f", name, messages, cost.Messages)
		}
		if math.Abs(entries-cost.Entries) > 0.1*cost.Entries {
			t.Errorf("%s: %.0f entries, announced %.0f", name, entries, cost.Entries)
		}
		if ratio := bytes / cost.Bytes; ratio < 0.65 || ratio > 1.35 {
			t.Errorf("%s: %.0f bytes, announced %.0f", name, bytes, cost.Bytes)
		}
		t.Logf("%s: %.0f messages (announced %.0f), %.0f entries (%.0f), %.0f bytes (%.0f)",
			name, messages, cost.Messages, entries, cost.Entries, bytes, cost.Bytes)
	}
}

func TestCostsAdd(t *testing.T) {
	a, b := Cost{1, 2, 3, 4}, Cost{10, 20, 30, 40}
	if got := a.times(3).plus(b); got != (Cost{13, 26, 39, 52}) {
		t.Errorf("got %+v", got)
	}
}

func TestProtocolNames(t *testing.T) {
	for _, b := range []Protocol{Auto, GKMPS, BBGN} {
		if got, err := ParseProtocol(b.String()); err != nil || got != b {
			t.Errorf("%s became %s, %v", b, got, err)
		}
	}
	if _, err := ParseProtocol("Gkmps"); !isParam(err, "base") {
		t.Errorf("error %v", err)
	}
	if got := fmt.Sprint(Protocol(9)); got != "Protocol(9)" {
		t.Errorf("got %q", got)
	}
}
