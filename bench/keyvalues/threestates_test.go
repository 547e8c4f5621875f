package keyvalues

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// With ε = ln 2 a state is reported truly with probability 1/2, and as each other with 1/4. Of 800
// reports about each of two keys 400 come from holders with + and 400 from clients without the key:
// 300 say +, 200 say −. The other key is held by nobody.
func TestThreeStatesByHand(t *testing.T) {
	e := estimateStates([]threeStates{{800, 300, 200}, {800, 200, 200}}, math.Ln2, 1600)
	for k, want := range []float64{0.5, 0} {
		if math.Abs(e.frequency[k]-want) > 1e-12 || math.Abs(e.mean[k]-want) > 1e-12 {
			t.Errorf("key %d: %g and %g, want %g", k, e.frequency[k], e.mean[k], want)
		}
	}
	if e := estimateStates([]threeStates{{}}, 1, 1); e.frequency[0] != 0 || e.mean[0] != 0 {
		t.Errorf("no reports: %+v", e)
	}
}

// The averages of 3000 rounds are within 5.5 standard errors of the truth: 8 averages, each beyond
// with probability 4e-8.
func TestThreeStatesAreUnbiased(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	p := newPopulation(200, 4, 2, rng)
	var values [8][]float64
	for range 3000 {
		e, err := fromThreeStates(t.Context(), nil, p, 1, setting{}, rng)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 4 {
			values[k], values[4+k] = append(values[k], e.frequency[k]), append(values[4+k], e.mean[k])
		}
	}
	for i, v := range values {
		want := append(append([]float64{}, p.held...), p.sum...)[i]
		mean, deviation := stat.MeanStdDev(v, nil)
		if se := deviation / math.Sqrt(3000); math.Abs(mean-want) > 5.5*se {
			t.Errorf("average %d is %g, want %g ± %g", i, mean, want, se)
		}
	}
}
