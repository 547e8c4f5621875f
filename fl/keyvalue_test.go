package fl

import (
	"errors"
	"math"
	"testing"
)

func TestCheckKeyValues(t *testing.T) {
	for name, pairs := range map[string][]KeyValue{
		"none": nil, "one": {{0, 0}}, "extremes": {{0, -1}, {4, 1}},
	} {
		if err := CheckKeyValues(pairs, 5); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, pairs := range map[string][]KeyValue{
		"beyond dim": {{5, 0}}, "largest key": {{math.MaxUint32, 0}}, "twice": {{1, 0}, {1, 0}}, "decreasing": {{2, 0}, {1, 0}},
		"above 1": {{0, 1.0001}}, "below -1": {{0, -1.0001}}, "NaN": {{0, math.NaN()}},
	} {
		var p *ParamError
		if err := CheckKeyValues(pairs, 5); !errors.As(err, &p) || p.Param != "pairs" {
			t.Errorf("%s: error %v, want a ParamError for pairs", name, err)
		}
	}
}
