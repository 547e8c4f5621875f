package baseline_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/baseline/gaussian"
	"github.com/hushgrad/hushgrad/baseline/laplace"
	"github.com/hushgrad/hushgrad/baseline/privunit"
	"github.com/hushgrad/hushgrad/baseline/ternary"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// round is a complete round of a baseline.
func round(name string) fl.Round {
	r := fl.Round{
		ID: "r", Mechanism: name, Dim: 12, Scale: 2, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 10,
		PublicSeed: [32]byte{1},
	}
	switch name {
	case dense.Name:
		r.Epsilon = math.Inf(1)
	case gaussian.Name:
		r.Delta = 1e-6
	case ternary.Name:
		r.Params = fl.Params{ternary.ParamSparsity: fl.Int(4)}
		r.Columns = fl.Columns(name)
	}
	return r
}

func TestContract(t *testing.T) {
	for _, name := range []string{dense.Name, gaussian.Name, laplace.Name, privunit.Name, ternary.Name} {
		if err := fltest.Mechanism(round(name), fltest.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Reports and snapshots have the first version's bytes.
func TestGoldenBytes(t *testing.T) {
	for name, want := range map[string][2]string{
		dense.Name:    {"ed2600f1a273ecca", "0b14f2650a95ccc0"},
		gaussian.Name: {"0f8ef15bf87f81fd", "a4db43f9e4dd3ce8"},
		laplace.Name:  {"97ec05a1698a31b7", "96a65342c4c0adaf"},
		privunit.Name: {"c05e5653d16d8df3", "19215dceeac017c8"},
		ternary.Name:  {"0d0a4edf7d3aed1b", "fd7576701c60f700"},
	} {
		r := round(name)
		r.Columns = nil
		fltest.Golden(t, r, want[0], want[1])
	}
}
