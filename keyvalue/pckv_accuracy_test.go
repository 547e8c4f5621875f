package keyvalue

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

var names = []string{PCKVUE, PCKVGRR, PCKVAGRR}

// cohort holds key 0 in 3 of 5 clients, with value 0.5, and so on; no client has more
// pairs than the padding.
var cohort = [][]fl.KeyValue{
	{{Key: 0, Value: 0.5}, {Key: 1, Value: -1}},
	{{Key: 0, Value: 0.5}},
	{{Key: 0, Value: 0.5}, {Key: 3, Value: 0.2}},
	{{Key: 1, Value: 0}},
	nil,
}

func aggregate(t *testing.T, m fl.KeyValueMechanism, n int, client func(i int) []fl.KeyValue, rng *rand.Rand) (mean, frequency, conditional fl.Series) {
	t.Helper()
	agg := m.NewAggregator()
	var buffer []byte
	for i := range n {
		report, err := m.EncodeKeyValues(buffer[:0], client(i), rng)
		if err != nil {
			t.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
		buffer = report
	}
	return decode(t, agg)
}

// decode returns the columns of an aggregator's estimate, which the round asks for.
func decode(t *testing.T, agg fl.Aggregator) (mean, frequency, conditional fl.Series) {
	t.Helper()
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*fl.Series{fl.ColumnFrequency: &frequency, fl.ColumnConditional: &conditional} {
		var ok bool
		if *c, ok = e.Column(name); !ok {
			t.Fatalf("no column %s", name)
		}
	}
	return e.Mean(), frequency, conditional
}

// Whole rounds of fixed clients, and of clients drawn from the cohort. The average of R
// rounds is normal with the exact variance over R; the average of the squared error has
// relative standard deviation sqrt(2/R) or, for the counts of 100 reports, up to 5 %
// more. 5 keys × 2 quantities × 2 tests × 3 mechanisms = 60 deviations are within 5.5
// standard deviations. One is beyond with probability 2.3e-6.
func TestRoundsMatchTheClosedForms(t *testing.T) {
	const rounds, n, dim, padding = 1500, 100, 5, 2
	frequency := []float64{0.6, 0.4, 0, 0.2, 0}
	mean := []float64{0.3, -0.2, 0, 0.04, 0}
	for i, name := range names {
		m := pckvOpen(t, name, dim, padding, 1.5)
		rng := rand.New(rand.NewChaCha8([32]byte{10, byte(i)}))
		var sum, squares [2][dim]float64
		for range rounds {
			_, fixed, _ := aggregate(t, m, n, func(i int) []fl.KeyValue { return cohort[i%5] }, rng)
			drawn, _, _ := aggregate(t, m, n, func(int) []fl.KeyValue { return cohort[rng.IntN(5)] }, rng)
			for j := range dim {
				for q, e := range []float64{fixed.Value[j] - frequency[j], drawn.Value[j] - mean[j]} {
					sum[q][j] += e
					squares[q][j] += e * e
				}
			}
		}
		c := m.channel()
		for j := range dim {
			m := 0.0
			if frequency[j] > 0 {
				m = mean[j] / frequency[j]
			}
			for q, variance := range []float64{c.FrequencyVariance(padding, frequency[j], n), c.MeanVariance(padding, frequency[j], m, n)} {
				if z := sum[q][j] / math.Sqrt(rounds*variance); math.Abs(z) > 5.5 {
					t.Errorf("%s, key %d, quantity %d: off by %.3g on average (%.1f standard deviations)", name, j, q, sum[q][j]/rounds, z)
				}
				ratio := squares[q][j] / (rounds * variance)
				if z := (ratio - 1) / (1.05 * math.Sqrt(2./rounds)); math.Abs(z) > 5.5 {
					t.Errorf("%s, key %d, quantity %d: squared error is %.3f of the closed form (%.1f standard deviations)", name, j, q, ratio, z)
				}
			}
		}
	}
}

// One round: the reported standard errors fit, and the conditional means are close.
// 5 keys × 2 × 3 deviations within 5.5 standard errors: false positives 1.2e-6. The
// conditional means of keys 0 and 1 have standard deviation below 0.02.
func TestOneRoundIsWithinItsStandardErrors(t *testing.T) {
	const n, dim, padding = 40_000, 5, 2
	for i, name := range names {
		mean, frequency, conditional := aggregate(t, pckvOpen(t, name, dim, padding, 4), n, func(i int) []fl.KeyValue { return cohort[i%5] }, rand.New(rand.NewChaCha8([32]byte{11, byte(i)})))
		for j, want := range []struct{ frequency, mean float64 }{{0.6, 0.3}, {0.4, -0.2}, {0, 0}, {0.2, 0.04}, {0, 0}} {
			if se := frequency.StdErr[j]; math.Abs(frequency.Value[j]-want.frequency) > 5.5*se || !(se > 0 && se < 0.03) {
				t.Errorf("%s: frequency of key %d: %g ± %g, want %g", name, j, frequency.Value[j], se, want.frequency)
			}
			if se := mean.StdErr[j]; math.Abs(mean.Value[j]-want.mean) > 5.5*se || !(se > 0 && se < 0.03) {
				t.Errorf("%s: mean of key %d: %g ± %g, want %g", name, j, mean.Value[j], se, want.mean)
			}
		}
		if c := conditional.Value; math.Abs(c[0]-0.5) > 0.11 || math.Abs(c[1]+0.5) > 0.11 {
			t.Errorf("%s: conditional means %v, want 0.5, -0.5", name, c)
		}
	}
}

// Of more pairs than the padding each is sent equally often, and frequencies are low by
// ℓ/|S|: 3 × 6 deviations within 5.5 standard errors, false positives 7e-7.
func TestClientsWithManyPairsAreHeardLess(t *testing.T) {
	pairs := make([]fl.KeyValue, 6)
	for i := range pairs {
		pairs[i] = fl.KeyValue{Key: uint32(i), Value: 1}
	}
	for i, name := range names {
		_, frequency, _ := aggregate(t, pckvOpen(t, name, 6, 2, 5), 5000, func(int) []fl.KeyValue { return pairs }, rand.New(rand.NewChaCha8([32]byte{12, byte(i)})))
		for j, f := range frequency.Value {
			if math.Abs(f-1./3) > 5.5*frequency.StdErr[j] {
				t.Errorf("%s: frequency of key %d: %g ± %g, want 1/3", name, j, f, frequency.StdErr[j])
			}
		}
	}
}
