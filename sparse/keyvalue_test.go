package sparse_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// scale is a power of two, so that multiplying by it is exact.
const scale = 2.

// pairsRound is a round that asks for everything about key-value pairs.
func pairsRound(t *testing.T, name string, dim, sparsity int, epsilon float64) fl.Round {
	t.Helper()
	r, _, err := fl.Complete(fl.Round{
		ID: "pairs", Mechanism: name, Dim: dim, Scale: scale, Epsilon: epsilon, MinReports: 1, PublicSeed: [32]byte{1, byte(dim)},
		Params: fl.Params{"sparsity": fl.Int(sparsity)}, Columns: []string{fl.ColumnFrequency, fl.ColumnConditional},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func pairsEstimate(t *testing.T, agg fl.Aggregator) (frequency, mean, conditional fl.Series, e *fl.Estimate) {
	t.Helper()
	e, err := agg.Estimate()
	if err != nil || len(e.Columns) != 3 {
		t.Fatalf("%+v, %v, want three columns", e, err)
	}
	frequency, _ = e.Column(fl.ColumnFrequency)
	conditional, _ = e.Column(fl.ColumnConditional)
	return frequency, e.Mean(), conditional, e
}

// A round that asks for frequencies gets the number of slots that is best for them, and
// one whose reports cannot show them is refused.
func TestColumnsDecideTheSlots(t *testing.T) {
	p := sparse.Point{Dim: 7850, Sparsity: 64, Epsilon: 0.1}
	best := map[string]func(sparse.Point) (int, error){
		"": coco.Scheme.BestSlots, fl.ColumnConditional: coco.Scheme.BestSlotsForFrequency, fl.ColumnMinus: coco.Scheme.BestSlotsForItems,
	}
	for column, search := range best {
		r := fl.Round{
			ID: "r", Mechanism: coco.Name, Dim: p.Dim, Scale: 1, Epsilon: p.Epsilon, MinReports: 1, PublicSeed: [32]byte{1},
			Params: fl.Params{"sparsity": fl.Int(p.Sparsity)},
		}
		if column != "" {
			r.Columns = []string{column}
		}
		r, _, err := fl.Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := search(p)
		if got, _ := r.Params.Int("slots"); err != nil || got != want {
			t.Errorf("column %q: %d slots, want %d, %v", column, got, want, err)
		}
		r.Params = r.Params.With("slots", fl.Int(2*p.Sparsity))
		_, err = fl.Open(r)
		var bad *fl.ParamError
		if refused := errors.As(err, &bad) && bad.Param == "slots"; refused != (column != "") {
			t.Errorf("column %q with 2·sparsity slots: %v", column, err)
		}
	}
}

// Clients hold key 0 with probability 0.6 and value 0.5, key 1 always with value
// −0.25, and nothing else. All 12 deviations from the truth, over both mechanisms,
// are below 5.5 standard errors. One of them is beyond with probability 5e-7.
func TestKeyValuesAreEstimated(t *testing.T) {
	const n, dim, s = 20_000, 12, 2
	for _, name := range names {
		r := pairsRound(t, name, dim, s, 4)
		m := open(t, r).(fl.KeyValueMechanism)
		agg := m.NewAggregator()
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
		frequency, mean, conditional, e := pairsEstimate(t, agg)
		share := float64(held) / n
		for j, want := range []struct{ frequency, mean float64 }{{share, share / 2}, {1, -0.25}, {0, 0}} {
			// A value of v has variance 1 − v² before the randomizer.
			if z := math.Abs(frequency.Value[j]-want.frequency) / frequency.StdErr[j]; z > 5.5 {
				t.Errorf("%s: frequency of key %d: %g ± %g, want %g", name, j, frequency.Value[j], frequency.StdErr[j], want.frequency)
			}
			if z := math.Abs(mean.Value[j]-scale*want.mean) / mean.StdErr[j]; z > 5.5 {
				t.Errorf("%s: mean of key %d: %g ± %g, want %g", name, j, mean.Value[j], mean.StdErr[j], scale*want.mean)
			}
			if f := min(max(frequency.Value[j], 1./n), 1); conditional.Value[j] != scale*min(max(mean.Value[j]/scale/f, -1), 1) {
				t.Errorf("%s: conditional mean of key %d: %g", name, j, conditional.Value[j])
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
	r := pairsRound(t, names[0], 6, 2, 15)
	m := open(t, r).(fl.KeyValueMechanism)
	agg := m.NewAggregator()
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
	frequency, _, _, _ := pairsEstimate(t, agg)
	for j, f := range frequency.Value {
		if z := math.Abs(f-1./3) / frequency.StdErr[j]; z > 5.5 {
			t.Errorf("key %d: frequency %g ± %g, want 1/3", j, f, frequency.StdErr[j])
		}
	}
}

func TestBadPairsAreRefused(t *testing.T) {
	for _, name := range names {
		m := open(t, roundOf(t, name, 10, 3, 2)).(fl.KeyValueMechanism)
		out, err := m.EncodeKeyValues([]byte("x"), []fl.KeyValue{{Key: 10}}, nil)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "pairs" || string(out) != "x" {
			t.Errorf("%s: %q, %v, want a ParamError for pairs", name, out, err)
		}
	}
}
