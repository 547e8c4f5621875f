package experiment_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

func TestTrimmedMean(t *testing.T) {
	values := []float64{100, 3, math.Inf(1), 1, -50, 2, math.Inf(-1)}
	before := slices.Clone(values)
	for _, c := range []struct {
		low, high int
		want      float64
	}{{2, 2, 2}, {1, 2, -11}, {2, 1, 26.5}, {6, 0, math.Inf(1)}, {2, 4, 1}} {
		got, err := experiment.TrimmedMean(values, c.low, c.high)
		if math.IsInf(c.want, 0) {
			if err == nil {
				t.Errorf("%d, %d dropped: no error for an infinite value that is left", c.low, c.high)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%d, %d dropped: %g, %v, want %g", c.low, c.high, got, err, c.want)
		}
	}
	if !slices.Equal(values, before) {
		t.Errorf("the values became %v", values)
	}
}

func TestTrimmedMeanErrors(t *testing.T) {
	nan := []float64{1, math.NaN(), 3}
	for name, c := range map[string]struct {
		values    []float64
		low, high int
		param     string
	}{
		"empty":         {nil, 0, 0, "values"},
		"nothing left":  {[]float64{1, 2}, 1, 1, "values"},
		"overflow":      {[]float64{1, 2}, math.MaxInt, math.MaxInt, "values"},
		"overflow high": {[]float64{1, 2}, 1, math.MaxInt, "values"},
		"negative low":  {[]float64{1, 2}, -1, 0, "dropLow"},
		"negative high": {[]float64{1, 2}, 0, -1, "dropHigh"},
		"NaN":           {nan, 1, 1, "values[1]"},
		"infinite low":  {[]float64{math.Inf(-1), 1, 2}, 0, 1, "values"},
		"infinite high": {[]float64{math.Inf(1), 1, 2}, 1, 0, "values"},
	} {
		var wrong *fl.ParamError
		if v, err := experiment.TrimmedMean(c.values, c.low, c.high); !errors.As(err, &wrong) || wrong.Param != c.param {
			t.Errorf("%s: %g, %v, want a ParamError for %s", name, v, err, c.param)
		}
	}
}
