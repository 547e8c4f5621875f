package baseline_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
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
	case baseline.None:
		r.Epsilon = math.Inf(1)
	case baseline.Gaussian:
		r.Delta = 1e-6
	}
	return r
}

func TestContract(t *testing.T) {
	for _, name := range []string{baseline.None, baseline.Gaussian, baseline.Laplace} {
		if err := fltest.Mechanism(round(name), fltest.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Reports and snapshots have the first version's bytes.
func TestGoldenBytes(t *testing.T) {
	for name, want := range map[string][2]string{
		baseline.None:     {"ed2600f1a273ecca", "0b14f2650a95ccc0"},
		baseline.Gaussian: {"0f8ef15bf87f81fd", "a4db43f9e4dd3ce8"},
		baseline.Laplace:  {"97ec05a1698a31b7", "96a65342c4c0adaf"},
	} {
		fltest.Golden(t, round(name), want[0], want[1])
	}
}
