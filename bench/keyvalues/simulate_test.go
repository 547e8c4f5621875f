package keyvalues

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

var long = flag.Bool("long", false, "compare simulated counts with encoded ones in three times as many rounds")

// encoded adds the reports that the mechanism's own encoder makes.
func encoded(t *testing.T, o *opened, clients int, pairs func(client int) []fl.KeyValue, rng *rand.Rand) {
	t.Helper()
	err := o.encode(t.Context(), clients, func(dst []byte, client int) ([]byte, error) {
		return o.mechanism.(fl.KeyValueMechanism).EncodeKeyValues(dst, pairs(client), rng)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// features are what two laws of the counts are compared by: per key the frequency, the
// mean and the conditional mean, their squares, products of two of them, and products with
// the next key's. For PCKV the frequency and the mean determine the counts.
func features(t *testing.T, agg fl.Aggregator) []float64 {
	t.Helper()
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	frequency, _ := e.Column(fl.ColumnFrequency)
	conditional, _ := e.Column(fl.ColumnConditional)
	mean := e.Mean()
	var out []float64
	d := len(conditional.Value)
	for k := range d {
		f, m, c := frequency.Value[k], mean.Value[k], conditional.Value[k]
		next := (k + 1) % d
		out = append(out, f, m, c, f*f, m*m, c*c, f*m, f*c, f*frequency.Value[next], m*mean.Value[next], f*mean.Value[next])
	}
	return out
}

// sameLaw compares the averages of the features over many rounds of both kinds. In the
// whole package fewer than 900 differences of averages are within 6 standard errors. They are normal,
// as there are 400 rounds of each kind at least and a difference of two alike has no skew:
// one is beyond with probability 1.8e-6.
func sameLaw(t *testing.T, what string, rounds int, left, right func(rng *rand.Rand) []float64) {
	t.Helper()
	var values [2][][]float64
	for side, draw := range []func(*rand.Rand) []float64{left, right} {
		rng := rand.New(rand.NewChaCha8([32]byte{7, byte(side)}))
		for range rounds {
			for i, v := range draw(rng) {
				if i == len(values[side]) {
					values[side] = append(values[side], nil)
				}
				values[side][i] = append(values[side][i], v)
			}
		}
	}
	for i := range values[0] {
		a, va := stat.MeanVariance(values[0][i], nil)
		b, vb := stat.MeanVariance(values[1][i], nil)
		if se := math.Sqrt((va + vb) / float64(rounds)); math.Abs(a-b) > 6*se {
			t.Errorf("%s: feature %d is %g encoded and %g simulated, %.1f standard errors apart", what, i, a, b, math.Abs(a-b)/se)
		}
	}
}

func roundOf(mechanism string, dim int, epsilon float64, params fl.Params) fl.Round {
	return fl.Round{ID: "test", Mechanism: mechanism, Dim: dim, Scale: 1, Epsilon: epsilon, MinReports: 1, Params: params}
}

// mechanismsOfCounts are the mechanisms that are simulated, with a population whose clients
// hold as many pairs as PCKV's padding length.
func mechanismsOfCounts(padding int) map[string]fl.Params {
	return map[string]fl.Params{
		keyvalue.PCKVUE: {keyvalue.ParamPadding: fl.Int(padding)}, keyvalue.PCKVGRR: {keyvalue.ParamPadding: fl.Int(padding)}, keyvalue.PCKVAGRR: {keyvalue.ParamPadding: fl.Int(padding)},
		rivals.PrivKV: nil, rivals.PrivKVM: {rivals.ParamRounds: fl.Int(3)}, rivals.KVUE: nil,
	}
}

func TestSimulatedPopulationsHaveTheLawOfEncodedOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("laws do not depend on the race detector")
	}
	p := newPopulation(40, 4, 2, rand.New(rand.NewChaCha8([32]byte{7})))
	simulatedIsEncoded(t, p, 4, 2, func(client int) []fl.KeyValue { return p.pairs(nil, client) })
}

// The errors that the figures show are the errors of the mechanisms' encoders: at the settings
// of a figure, mean metrics over rounds of both kinds. The metrics are the features.
func TestMeasuredErrorsAreThoseOfTheEncoders(t *testing.T) {
	if testing.Short() {
		t.Skip("laws do not depend on the race detector")
	}
	const epsilon, rounds = 0.8, 400
	p := newPopulation(400, 24, 4, rand.New(rand.NewChaCha8([32]byte{7})))
	for _, c := range contenders {
		if c.mechanism == "" {
			continue
		}
		settings, err := c.settings(shape{400, 24, 4}, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range settings {
			measure := func(e estimate, err error) []float64 {
				if err != nil {
					t.Fatal(err)
				}
				values, err := p.logErrors(e, s.by)
				if err != nil {
					t.Fatal(err)
				}
				return values
			}
			sameLaw(t, c.label, rounds,
				func(rng *rand.Rand) []float64 { return measure(fromVectors(t.Context(), &c, p, epsilon, s, rng)) },
				func(rng *rand.Rand) []float64 { return measure(c.run(t.Context(), &c, p, epsilon, s, rng)) })
		}
	}
}

// Binomial counts have their law in all branches of the sampler: a chi-square test over
// what is drawn often, and the rest, at a level of 1e-7 each.
func TestBinomialLaw(t *testing.T) {
	const draws = 100_000
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, c := range []struct {
		n int
		p float64
	}{{10, 0.3}, {60, 0.01}, {60, 0.99}, {1000, 0.3}, {100_000, 0.5}, {1_000_000, 3e-5}} {
		counts := map[int]float64{}
		for range draws {
			counts[binomial(rng, c.n, c.p)]++
		}
		square, bins, rest := 0.0, 0.0, float64(draws)
		observed := rest
		center, width := float64(c.n)*c.p, 6*math.Sqrt(float64(c.n)*c.p*(1-c.p))+6
		for k := max(0, int(center-width)); k <= min(c.n, int(center+width)); k++ {
			want := draws * distuv.Binomial{N: float64(c.n), P: c.p}.Prob(float64(k))
			if want < 20 {
				continue
			}
			square += (counts[k] - want) * (counts[k] - want) / want
			rest, observed, bins = rest-want, observed-counts[k], bins+1
		}
		if rest > 20 {
			square += (observed - rest) * (observed - rest) / rest
			bins++
		}
		if p := (distuv.ChiSquared{K: bins - 1}).Survival(square); p < 1e-7 {
			t.Errorf("%d trials of %g: chi-square %.0f over %g bins, p = %g", c.n, c.p, square, bins, p)
		}
	}
	if got := binomial(rng, 0, 0.5); got != 0 {
		t.Errorf("%d of 0 trials", got)
	}
}
