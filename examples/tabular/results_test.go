package main

import (
	"strings"
	"testing"
)

// A share of rows has its interval, 95 % by the binomial distribution, and a model that is worse than one without columns is said to be. R² has no interval.
func TestScoresAreCompared(t *testing.T) {
	share := 0.6346
	for _, c := range []struct {
		score    float64
		common   *float64
		interval string
		worse    string
	}{
		{0.6288, &share, "± 0.030 (95 %, of 1040 rows)", "worse than the commonest class alone"}, // 1.96 times 0.01498
		{0.7192, &share, "± 0.028 (95 %, of 1040 rows)", ""},
		{0.6346, &share, "± 0.030", ""},
		{1, &share, "", ""},
		{0, &share, "", "worse than the commonest class alone"},
		{0, nil, "", ""},
		{0.5, nil, "", ""},
		{-0.01, nil, "", "worse than the mean alone"},
	} {
		got := remark(c.score, c.common, 1040)
		if strings.Contains(got, "±") != (c.interval != "") || !strings.Contains(got, c.interval) || strings.Contains(got, "worse") != (c.worse != "") || !strings.Contains(got, c.worse) ||
			strings.Contains(got, "(the commonest class alone has 0.6346)") != (c.common != nil) {
			t.Errorf("score %g: %q, want %q and %q", c.score, got, c.interval, c.worse)
		}
		for i, line := range strings.Split(got, "\n") {
			if i > 0 && (len(line) > 80 || !strings.HasPrefix(line, strings.Repeat(" ", 19))) {
				t.Errorf("score %g: the line %q", c.score, line)
			}
		}
	}
}
