package keyvalue_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

func TestPairsAreTheNonZeroCoordinates(t *testing.T) {
	got, err := keyvalue.Pairs([]float64{0, 1, -8, 0, math.MaxFloat64}, 5, 4)
	want := []fl.KeyValue{{Key: 1, Value: 0.25}, {Key: 2, Value: -1}, {Key: 4, Value: 1}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, bad := range [][]float64{{1}, {1, math.NaN()}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		var p *fl.ParamError
		if _, err := keyvalue.Pairs(bad, 2, 1); !errors.As(err, &p) || p.Param != "gradient" {
			t.Errorf("%v: %v, want a ParamError for gradient", bad, err)
		}
	}
}
