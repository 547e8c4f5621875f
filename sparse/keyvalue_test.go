package sparse_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

// Clients hold key 0 with probability 0.6 and value 0.5, key 1 always with value
// −0.25, and nothing else. All 12 deviations from the truth, over both mechanisms,
// are below 5.5 standard errors, of which one is beyond with probability 5e-7.
func TestKeyValuesAreEstimated(t *testing.T) {
	const n, dim, s = 20_000, 12, 2
	for _, name := range names {
		r := sparsetest.Round(t, name, dim, s, 4)
		m := sparsetest.Open(t, r).(fl.KeyValueMechanism)
		agg := m.NewAggregator().(fl.KeyValueAggregator)
		rng := rand.New(rand.NewChaCha8([32]byte{31}))
		held := 0
		for range n {
			pairs := []fl.KeyValue{{Key: 1, Value: -0.25}}
			if rng.Float64() < 0.6 {
				held++
				pairs = []fl.KeyValue{{Key: 0, Value: 0.5}, {Key: 1, Value: -0.25}}
			}
			report, err := m.EncodeKeyValues(nil, pairs, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.KeyValues()
		if err != nil {
			t.Fatal(err)
		}
		share := float64(held) / n
		for j, want := range []struct{ frequency, mean float64 }{{share, share / 2}, {1, -0.25}, {0, 0}} {
			// A value of v has variance 1 − v² before the randomizer.
			if z := math.Abs(e.Frequency.Value[j]-want.frequency) / e.Frequency.StdErr[j]; z > 5.5 {
				t.Errorf("%s: frequency of key %d: %g ± %g, want %g", name, j, e.Frequency.Value[j], e.Frequency.StdErr[j], want.frequency)
			}
			if z := math.Abs(e.Mean.Value[j]-want.mean) / e.Mean.StdErr[j]; z > 5.5 {
				t.Errorf("%s: mean of key %d: %g ± %g, want %g", name, j, e.Mean.Value[j], e.Mean.StdErr[j], want.mean)
			}
			if f := min(max(e.Frequency.Value[j], 1./n), 1); e.Conditional[j] != min(max(e.Mean.Value[j]/f, -1), 1) {
				t.Errorf("%s: conditional mean of key %d: %g", name, j, e.Conditional[j])
			}
		}
		if e.Reports != n || e.Mechanism != name || e.Guarantee.Epsilon != 4 {
			t.Errorf("%s: %d reports of %s under %v", name, e.Reports, e.Mechanism, e.Guarantee)
		}
	}
}

// Of more pairs than the sparsity each is drawn equally often: counts of 3000 draws
// of 2 of 6 are binomial with p = 1/3, standard deviation 25.8; none of the 6 is 5.5
// of them off except with probability 3e-7.
func TestClientsWithManyPairsSendAFairSample(t *testing.T) {
	r := sparsetest.Round(t, names[0], 6, 2, 15)
	m := sparsetest.Open(t, r).(fl.KeyValueMechanism)
	agg := m.NewAggregator().(fl.KeyValueAggregator)
	rng := rand.New(rand.NewChaCha8([32]byte{32}))
	pairs := make([]fl.KeyValue, 6)
	for i := range pairs {
		pairs[i] = fl.KeyValue{Key: uint32(i), Value: 1}
	}
	for range 3000 {
		report, err := m.EncodeKeyValues(nil, pairs, rng)
		if err != nil {
			t.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	e, err := agg.KeyValues()
	if err != nil {
		t.Fatal(err)
	}
	for j, f := range e.Frequency.Value {
		if z := math.Abs(f-1./3) / e.Frequency.StdErr[j]; z > 5.5 {
			t.Errorf("key %d: frequency %g ± %g, want 1/3", j, f, e.Frequency.StdErr[j])
		}
	}
}

func TestBadPairsAreRefused(t *testing.T) {
	for _, name := range names {
		m := sparsetest.Open(t, sparsetest.Round(t, name, 10, 3, 2)).(fl.KeyValueMechanism)
		out, err := m.EncodeKeyValues([]byte("x"), []fl.KeyValue{{Key: 10}}, nil)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "pairs" || string(out) != "x" {
			t.Errorf("%s: %q, %v, want a ParamError for pairs", name, out, err)
		}
		if _, err := m.NewAggregator().(fl.KeyValueAggregator).KeyValues(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: key values without reports: %v", name, err)
		}
	}
}
