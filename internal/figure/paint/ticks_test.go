package paint

import (
	"math"
	"slices"
	"testing"
)

// Labels are where a reader counts: at 0, 5, 10 rounds and not at 4, 16, 28.
func TestTicksOfALinearAxis(t *testing.T) {
	for name, c := range map[string]struct {
		lo, hi float64
		whole  bool
		labels []string
		ticks  int
	}{
		"thirty rounds":   {1, 30, true, []string{"5", "10", "15", "20", "25", "30"}, 30},
		"three rounds":    {1, 3, true, []string{"1", "2", "3"}, 3},
		"one round":       {1, 1.2, true, []string{"1"}, 1},
		"a hundred":       {0, 100, true, []string{"0", "20", "40", "60", "80", "100"}, 21},
		"shares":          {0, 1, false, []string{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}, 21},
		"part of shares":  {0.87, 0.951, false, []string{"0.88", "0.90", "0.92", "0.94"}, 17},
		"negative":        {-3, 3, false, []string{"-3", "-2", "-1", "0", "1", "2", "3"}, 31},
		"small":           {0, 2e-6, false, []string{"0", "5e-7", "1e-6", "1.5e-6", "2e-6"}, 21},
		"large":           {0, 4e6, true, []string{"0", "1e6", "2e6", "3e6", "4e6"}, 21},
		"thousands":       {0, 60_000, true, []string{"0", "10000", "20000", "30000", "40000", "50000", "60000"}, 31},
		"far from zero":   {1e9, 1e9 + 3, true, []string{"1e9", "1.000000001e9", "1.000000002e9", "1.000000003e9"}, 4},
		"the whole range": {-1e300, 1e300, false, []string{"-1e300", "-5e299", "0", "5e299", "1e300"}, 21},
	} {
		var labels []string
		ticks := steps{whole: c.whole}.Ticks(c.lo, c.hi)
		for _, tick := range ticks {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
			if tick.Value < c.lo || tick.Value > c.hi {
				t.Errorf("%s: a tick at %g, outside [%g, %g]", name, tick.Value, c.lo, c.hi)
			}
		}
		if !slices.Equal(labels, c.labels) || len(ticks) != c.ticks {
			t.Errorf("%s: %d ticks, labels %q, want %d and %q", name, len(ticks), labels, c.ticks, c.labels)
		}
	}
}

func TestTicksOfALogarithmicAxis(t *testing.T) {
	for name, c := range map[string]struct {
		lo, hi float64
		labels []string
		ticks  int
	}{
		"two decades":        {0.01, 1, []string{"0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"}, 19},
		"three decades":      {0.5, 2000, []string{"1", "3", "10", "30", "100", "300", "1000"}, 5 + 3*9 + 2},
		"over two decades":   {0.0019, 0.65, []string{"0.003", "0.01", "0.03", "0.1", "0.3"}, 8 + 9 + 6},
		"many decades":       {1e-12, 1, []string{"1e-12", "1e-10", "1e-8", "1e-6", "1e-4", "1e-2", "1"}, 13},
		"large numbers":      {100, 2e6, []string{"1e2", "1e3", "1e4", "1e5", "1e6"}, 4*9 + 2},
		"few large numbers":  {1e6, 4e6, []string{"1e6", "2e6", "3e6", "4e6"}, 4},
		"labels to the end":  {0.1, 4, []string{"0.1", "0.2", "0.5", "1", "2", "4"}, 10 + 3},
		"no room at the end": {0.1, 3, []string{"0.1", "0.2", "0.5", "1", "2"}, 10 + 2},
		"part of a decade":   {3, 60, []string{"3", "5", "7", "10", "20", "30", "50"}, 7 + 6},
		"within a decade":    {0.3, 1, []string{"0.3", "0.5", "0.7", "1"}, 8},
		"a factor of two":    {0.5, 1, []string{"0.5", "0.6", "0.7", "0.8", "0.9", "1"}, 6},
		"hardly any decades": {0.71, 0.78, []string{"0.72", "0.75", "0.78"}, 3 + 4},
	} {
		var labels []string
		lo, hi := math.Log10(c.lo), math.Log10(c.hi)
		ticks := decades{}.Ticks(lo, hi)
		for _, tick := range ticks {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
			if tick.Value < lo || tick.Value > hi {
				t.Errorf("%s: a tick at %g, outside [%g, %g]", name, tick.Value, lo, hi)
			}
		}
		if !slices.Equal(labels, c.labels) || len(ticks) != c.ticks {
			t.Errorf("%s: %d ticks, labels %q, want %d and %q", name, len(ticks), labels, c.ticks, c.labels)
		}
	}
}
