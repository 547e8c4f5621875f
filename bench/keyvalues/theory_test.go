package keyvalues

import (
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/keyvalue/pckv"
	"github.com/hushgrad/hushgrad/keyvalue/privkv"
)

func TestTheoryAveragesTheTheorem(t *testing.T) {
	p := &singles{holders: []int{60_000, 40_000}, mean: []float64{0.5, -1}, clients: 100_000, held: []int{0, 1}}
	index := func(name string) int {
		return slices.IndexFunc(rivals, func(r rival) bool { return r.name == name })
	}
	at := &point{dim: 2, epsilon: 5, rival: index(pckv.UE)}
	b, err := pckv.Optimized.UE(5)
	if err != nil {
		t.Fatal(err)
	}
	c := b.UE()
	for quantity, errors := range [][2]float64{
		frequency: {c.FrequencyMSE(1, 0.6, 1e5), c.FrequencyMSE(1, 0.4, 1e5)},
		// A value of 0.5 is rounded to a sign of variance 0.75, −1 to −1.
		mean: {c.MeanMSE(1, 0.6, 0.5, 1e5) + 0.75/60_000, c.MeanMSE(1, 0.4, -1, 1e5)},
	} {
		got, err := at.expected(p, quantity, scopes[0], 50)
		want := (errors[0] + errors[1]) / 2
		// Two independent squares of Gaussians, each of variance 2v², over 50 repeats.
		spread := math.Sqrt((errors[0]*errors[0]+errors[1]*errors[1])/4*2/50) / want
		if err != nil || math.Abs(got.mse-want) > 1e-12*want || math.Abs(got.spread-spread) > 1e-12 {
			t.Errorf("%s: %+v, want %g and %g, %v", quantities[quantity], got, want, spread, err)
		}
	}
	at.epsilon = 0.001 // nothing is known: the errors are 1.5 and 2 at most
	if got, err := at.expected(p, mean, scopes[0], 50); err != nil || got.mse != (1.5*1.5+2*2)/2 {
		t.Errorf("at a tiny ε: %+v, %v", got, err)
	}
	at.rival = index(privkv.NameKVUE)
	if got, err := at.expected(p, mean, scopes[0], 50); err != nil || got != (theory{}) {
		t.Errorf("KVUE: %+v, %v", got, err)
	}
}
