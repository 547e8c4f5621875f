package figure

import (
	"slices"
	"testing"
)

func TestLogTicks(t *testing.T) {
	for name, c := range map[string]struct {
		lo, hi float64
		labels []string
		ticks  int
	}{
		"two decades":        {0.01, 1, []string{"0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"}, 19},
		"three decades":      {0.5, 2000, []string{"1", "10", "100", "1000"}, 5 + 3*9 + 2},
		"many decades":       {1e-12, 1, []string{"1e-12", "1e-10", "1e-08", "1e-06", "0.0001", "0.01", "1"}, 13},
		"part of a decade":   {3, 60, []string{"5", "10", "20", "50"}, 7 + 6},
		"hardly any decades": {0.71, 0.78, []string{"0.72", "0.75", "0.78"}, 3 + 4},
	} {
		var labels []string
		ticks := logTicks{}.Ticks(c.lo, c.hi)
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
