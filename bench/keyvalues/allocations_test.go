package keyvalues

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestAllocations(t *testing.T) {
	r, err := runAllocations(1_000_000, 100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	// Means are what the allocation is optimized for; the naive one wastes budget.
	mse := map[string]map[float64][2]float64{}
	for _, row := range r.Rows {
		key := row[0].(string) + row[1].(string)
		if mse[key] == nil {
			mse[key] = map[float64][2]float64{}
		}
		mse[key][row[2].(float64)] = [2]float64{row[3].(float64), row[4].(float64)}
	}
	for _, mechanism := range []string{"pckv-ue", "pckv-grr"} {
		for e, best := range mse[mechanism+"optimized"] {
			naive, even := mse[mechanism+"naive"][e], mse[mechanism+"even"][e]
			if best[1] > naive[1]*(1+1e-9) || best[1] > even[1]*(1+1e-9) || best[0] > naive[0]*(1+1e-9) {
				t.Errorf("%s at ε = %g: optimized %v, even %v, naive %v", mechanism, e, best, even, naive)
			}
		}
	}
	var png bytes.Buffer
	if err := r.Plot.WritePNG(&png); err != nil {
		t.Error(err)
	}
	for param, err := range map[string]error{
		"-clients": second(runAllocations(0, 100, 0.1)), "-dim": second(runAllocations(10, 1, 0.1)), "-frequency": second(runAllocations(10, 10, 0)),
	} {
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
