package rivals_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
)

// Holders of the five keys, as shares, and their values.
var (
	shares = []float64{0, 1, 0.5, 0.25, 0.9}
	values = []float64{0, 0.5, -1, 0.3, 1}
)

func holder(rng *rand.Rand) (pairs []fl.KeyValue) {
	for j, f := range shares {
		if rng.Float64() < f {
			pairs = append(pairs, fl.KeyValue{Key: uint32(j), Value: values[j]})
		}
	}
	return pairs
}

type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) { m.n++; m.sum += v; m.squares += v * v }

// z is the distance of the average from want in standard errors.
func (m *moments) z(want float64) float64 {
	average := m.sum / m.n
	return (average - want) / math.Sqrt((m.squares/m.n-average*average)/m.n)
}

// Clients are drawn anew, 400 per round. The estimates are unbiased and have the errors
// of the closed forms: 6·5·4 averages of 600 rounds, none beyond 6 standard errors but
// with probability 120·2e-9 for normal averages; the squares of nearly normal errors
// have a right tail with 2e-8 at 6. The standard errors cover: the average of their
// squares is at least the variance, and at most 25 % (and the square of the
// mean) above.
func TestEstimatesAgainstClosedForms(t *testing.T) {
	const rounds, perRound = 600, 400
	d := len(shares)
	for i, name := range privKVNames {
		messages := 3
		if name == rivals.KVUE {
			messages = 8
		}
		for _, eps := range []float64{1, 5} {
			m := open(t, name, d, eps, nil)
			point := rivals.PrivKVPoint{Mechanism: name, Dim: d, Epsilon: eps, Rounds: 1}
			rng := rand.New(rand.NewChaCha8([32]byte{7, byte(i), byte(eps)}))
			var frequency, frequencyMSE, frequencyVariance, mean, meanMSE, meanVariance [5]moments
			for range rounds {
				agg := m.NewAggregator()
				var about [5]float64
				for range perRound {
					report, err := m.EncodeKeyValues(nil, holder(rng), rng)
					if err != nil {
						t.Fatal(err)
					}
					if err := agg.Add(report); err != nil {
						t.Fatal(err)
					}
					about[int(report[0])/messages]++
				}
				e, err := agg.Estimate()
				if err != nil {
					t.Fatal(err)
				}
				frequencies, _ := e.Column(fl.ColumnFrequency)
				for j, f := range shares {
					// The error of a frequency goes with the reports about the key.
					x := frequencies.Value[j] - f
					frequency[j].add(x)
					frequencyMSE[j].add(x * x * about[j] * float64(d))
					frequencyVariance[j].add(frequencies.StdErr[j] * frequencies.StdErr[j] * about[j] * float64(d))
					y := e.Mean().Value[j] - f*values[j]
					mean[j].add(y)
					meanMSE[j].add(y * y * perRound)
					meanVariance[j].add(e.Mean().StdErr[j] * e.Mean().StdErr[j] * perRound)
				}
			}
			for j, f := range shares {
				wantFrequency, err := rivals.PrivKVFrequencyMSE(point, f)
				if err != nil {
					t.Fatal(err)
				}
				wantMean, err := rivals.PrivKVMeanMSE(point, f, f*values[j])
				if err != nil {
					t.Fatal(err)
				}
				for what, z := range map[string]float64{
					"frequency": frequency[j].z(0), "mean": mean[j].z(0),
					"squared error of the frequency": frequencyMSE[j].z(wantFrequency),
					"squared error of the mean":      meanMSE[j].z(wantMean),
				} {
					if !(math.Abs(z) < 6) {
						t.Errorf("%s, ε=%g, key %d: %s: %.1f standard errors off", name, eps, j, what, z)
					}
				}
				if got := frequencyVariance[j].sum / rounds; got < wantFrequency || got > 1.25*wantFrequency {
					t.Errorf("%s, ε=%g, key %d: variance of the frequency %g, want %g or a little more", name, eps, j, got, wantFrequency)
				}
				if got := meanVariance[j].sum / rounds; got < wantMean || got > 1.25*wantMean+1 {
					t.Errorf("%s, ε=%g, key %d: variance of the mean %g, want %g or a little more", name, eps, j, got, wantMean)
				}
			}
		}
	}
}

func TestClosedFormsRefuseBadArguments(t *testing.T) {
	good := rivals.PrivKVPoint{Mechanism: rivals.PrivKVM, Dim: 10, Epsilon: 1, Rounds: 2}
	for i, c := range []struct {
		change          func(p *rivals.PrivKVPoint)
		frequency, mean float64
	}{
		{func(p *rivals.PrivKVPoint) { p.Mechanism = "none" }, 0.5, 0},
		{func(p *rivals.PrivKVPoint) { p.Dim = 0 }, 0.5, 0},
		{func(p *rivals.PrivKVPoint) { p.Epsilon = math.NaN() }, 0.5, 0},
		{func(p *rivals.PrivKVPoint) { p.Rounds = 0 }, 0.5, 0},
		{func(p *rivals.PrivKVPoint) { p.Mechanism = rivals.KVUE }, 0.5, 0},
		{func(p *rivals.PrivKVPoint) {}, math.NaN(), 0},
		{func(p *rivals.PrivKVPoint) {}, 1.5, 0},
		{func(p *rivals.PrivKVPoint) {}, 0.5, 0.6},
		{func(p *rivals.PrivKVPoint) {}, 0.5, math.NaN()},
	} {
		p := good
		c.change(&p)
		if _, err := rivals.PrivKVMeanMSE(p, c.frequency, c.mean); err == nil {
			t.Errorf("case %d: the error of the mean: want an error", i)
		}
		if i < 7 {
			if _, err := rivals.PrivKVFrequencyMSE(p, c.frequency); err == nil {
				t.Errorf("case %d: the error of the frequency: want an error", i)
			}
		}
	}
}
