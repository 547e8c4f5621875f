package fl

import (
	"errors"
	"math"
	"testing"
)

func TestTernaryValidate(t *testing.T) {
	good := func() Ternary {
		return Ternary{Dim: 5, Index: []uint32{4, 0, 5}, Sign: []int8{1, -1, 1}}
	}
	if err := good().Validate(5, 3); err != nil || good().Len() != 3 {
		t.Errorf("a good vector: %v", err)
	}
	for name, mutate := range map[string]func(*Ternary){
		"dim":           func(x *Ternary) { x.Dim = 6 },
		"too few":       func(x *Ternary) { x.Index = x.Index[:2] },
		"signs missing": func(x *Ternary) { x.Sign = x.Sign[:2] },
		"index":         func(x *Ternary) { x.Index[0] = 8 },
		"huge index":    func(x *Ternary) { x.Index[0] = 1<<32 - 1 },
		"zero sign":     func(x *Ternary) { x.Sign[1] = 0 },
		"sign 2":        func(x *Ternary) { x.Sign[1] = 2 },
	} {
		x := good()
		mutate(&x)
		var p *ParamError
		if err := x.Validate(5, 3); !errors.As(err, &p) {
			t.Errorf("%s: error %v, want a ParamError", name, err)
		}
	}
}

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
