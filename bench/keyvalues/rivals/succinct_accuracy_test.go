package rivals

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

type succinctMoments struct{ n, sum, squares float64 }

func (m *succinctMoments) add(v float64) { m.n++; m.sum += v; m.squares += v * v }

// z is the distance of the average from want in standard errors.
func (m *succinctMoments) z(want float64) float64 {
	average := m.sum / m.n
	return (average - want) / math.Sqrt((m.squares/m.n-average*average)/m.n)
}

// All clients hold keys 0 … 5 of 12 with alternating signs. Per case 13 averages of
// 4000 rounds. One of them is 6 standard errors off with probability 2e-9 (2e-8 for the
// error, which has a heavier right tail): false-positive rate below 1e-6.
// The average of the squared standard errors is the mean variance per key of that
// closed form, or up to 25 % and one more.
func TestEstimatesAgainstClosedForm(t *testing.T) {
	const rounds, perRound, dim, s, beta = 4000, 25, 12, 6, 1e-9
	pairs := make([]fl.KeyValue, s)
	for j := range pairs {
		pairs[j] = fl.KeyValue{Key: uint32(j), Value: float64(1 - 2*(j%2))}
	}
	for _, eps := range []float64{0.5, 20} {
		for _, buckets := range []int{1, 3} {
			m := succinctOpen(t, dim, eps, fl.Params{ParamSparsity: fl.Int(s), ParamBuckets: fl.Int(buckets), ParamBeta: fl.Real(beta)})
			want, err := SuccinctMSE(dim, s, buckets, m.round.MinReports, eps, beta)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewChaCha8([32]byte{7, byte(buckets), byte(eps)}))
			var mean [dim]succinctMoments
			var squared succinctMoments
			variance := 0.0
			for range rounds {
				agg := m.NewAggregator()
				for range perRound {
					report, err := m.EncodeKeyValues(nil, pairs, rng)
					if err != nil {
						t.Fatal(err)
					}
					if err := agg.Add(report); err != nil {
						t.Fatal(err)
					}
				}
				e, err := agg.Estimate()
				if err != nil {
					t.Fatal(err)
				}
				total := 0.0
				for j, v := range e.Mean().Value {
					truth := 0.0
					if j < s {
						truth = pairs[j].Value
					}
					mean[j].add(v - truth)
					total += (v - truth) * (v - truth)
				}
				squared.add(total * perRound)
				variance += e.Mean().StdErr[0] * e.Mean().StdErr[0] * perRound / rounds
			}
			if z := squared.z(want); !(math.Abs(z) < 6) {
				t.Errorf("ε=%g, B=%d: squared error %g, want %g, %.1f standard errors off", eps, buckets, squared.sum/rounds, want, z)
			}
			for j := range mean {
				if z := mean[j].z(0); !(math.Abs(z) < 6) {
					t.Errorf("ε=%g, B=%d: mean of key %d is %.1f standard errors off", eps, buckets, j, z)
				}
			}
			if perKey := want / dim; variance < perKey || variance > 1.25*perKey+1 {
				t.Errorf("ε=%g, B=%d: variance %g, want %g or a little more", eps, buckets, variance, perKey)
			}
		}
	}
}

// A value of 0.3 is sent as ±1 with the mean 0.3: with ε = 20 and one key the noise has
// a variance of 1e-4, and the mean of 20000 reports a standard deviation of 0.0068; it
// is 5.5 of them off with probability 4e-8.
func TestValuesAreRoundedFairly(t *testing.T) {
	m := succinctOpen(t, 1, 20, fl.Params{ParamSparsity: fl.Int(1)})
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	agg := m.NewAggregator()
	for range 20_000 {
		report, err := m.Encode(nil, []float64{0.3}, rng)
		if err != nil {
			t.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(e.Mean().Value[0]-0.3) > 5.5*0.0068 || len(e.Columns) != 1 {
		t.Errorf("%+v, want the mean 0.3 and nothing else", e)
	}
}
