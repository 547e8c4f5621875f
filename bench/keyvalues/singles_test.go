package keyvalues

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
)

// Gaussian keys fall from the first one on: with σ = 50 the first 50 of 400 hold the share of a
// half-normal variable between 0.5/50 and 50.5/50, about 0.682; uniform ones hold an eighth. Means of
// uniform clients have the variance 1/3. Means of a normal variable within one standard deviation have
// the variance 0.291. Bounds are 5 standard deviations and more.
func TestSinglesHaveTheirLaw(t *testing.T) {
	const clients, dim = 20_000, 400
	inside := func(x float64) float64 { return math.Erf(x / math.Sqrt2) }
	for by, want := range map[law]struct{ first, variance float64 }{
		uniformLaw:  {0.125, 1. / 3},
		gaussianLaw: {(inside(50.5/50) - inside(0.5/50)) / (1 - inside(0.5/50)), 0.2911},
	} {
		variance, first := 0.0, 0.0
		rng := rand.New(rand.NewChaCha8([32]byte{7}))
		for range 20 {
			p := newSingles(by, clients, dim, rng)
			sum := 0
			for k, n := range p.holders {
				sum += n
				if k < 50 {
					first += float64(n) / clients / 20
				}
				if math.Abs(p.mean[k]) > 1 {
					t.Errorf("%s: key %d has the mean %g", by, k, p.mean[k])
				}
				variance += p.mean[k] * p.mean[k] / dim / 20
			}
			if sum != clients || p.clients() != clients {
				t.Errorf("%s: %d clients", by, sum)
			}
		}
		// 400 000 clients: a deviation of 0.0008. 8000 means: one of 0.0034.
		if math.Abs(first-want.first) > 0.004 || math.Abs(variance-want.variance) > 0.017 {
			t.Errorf("%s: a share of %g and a variance of %g, want %+v", by, first, variance, want)
		}
	}
}

// The truth of one Gaussian draw is ranked, and is the clients' truth.
func TestTruthIsRanked(t *testing.T) {
	p := &singles{holders: []int{20, 0, 50, 30}, mean: []float64{0.5, 1, -1, 0}, size: 100}
	truth := p.truth()
	if got := truth.held; len(got) != 3 || got[0] != 2 || got[1] != 3 || got[2] != 0 {
		t.Errorf("keys %v", got)
	}
	if truth.frequency[2] != 0.5 || truth.frequency[1] != 0 {
		t.Errorf("frequencies %v", truth.frequency)
	}
}

// Errors and precisions by hand: frequencies off by 0.1, 0.2 and 0, means by 0.5, 0 and 1, of the three
// keys that are held; of the two most frequent ones, 2 and 3, one is estimated to be.
func TestGaugesByHand(t *testing.T) {
	truth := (&singles{holders: []int{20, 0, 50, 30}, mean: []float64{0.5, 1, -1, 0}, size: 100}).truth()
	frequencies, means := []float64{0.2, 0.9, 0.6, 0.5}, []float64{0.5, 0, -0.5, 1}
	for g, want := range map[gauge]float64{
		{frequency, 0}: 0.05 / 3, {frequency, 2}: 0.05 / 2, {frequency, 1}: 0.01,
		{mean, 0}: 1.25 / 3, {mean, 1}: 0.25, {precision, 2}: 0.5, {precision, 1}: 0,
	} {
		if got := g.measure(truth, frequencies, means); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s, %s: %g, want %g", g.of, g.scope(), got, want)
		}
	}
}

func TestSimulatedSinglesHaveTheLawOfEncodedOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("laws do not depend on the race detector")
	}
	p := &singles{holders: []int{20, 9, 0, 6}, mean: []float64{0.4, -1, 0.9, -0.3}, size: 35}
	var pairs [][]fl.KeyValue
	for k, n := range p.holders {
		for range n {
			pairs = append(pairs, []fl.KeyValue{{Key: uint32(k), Value: p.mean[k]}})
		}
	}
	simulatedIsEncoded(t, p, 4, 1, func(client int) []fl.KeyValue { return pairs[client] })
}

// Clients with fewer pairs than the padding length send dummies, and those with more send each pair less.
func TestSimulatedRatingsHaveTheLawOfEncodedOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("laws do not depend on the race detector")
	}
	p := &ratings{dim: 4, first: []int{0}}
	for client := range 30 {
		for key := range 4 {
			if client%(key+1) == 0 {
				p.pairs = append(p.pairs, rating{uint32(key), float32(key)/2 - 0.75})
			}
		}
		p.first = append(p.first, len(p.pairs))
	}
	simulatedIsEncoded(t, p, 4, 2, func(client int) []fl.KeyValue { return p.keyValues(nil, client) })
}

// simulatedIsEncoded compares the law of the simulated counts of all mechanisms with the encoders' law. With
// a third of the rounds it sees laws that are 1.7 times as far apart.
func simulatedIsEncoded(t *testing.T, c crowd, dim, padding int, pairs func(client int) []fl.KeyValue) {
	t.Helper()
	rounds := 1000
	if *long {
		rounds = 3000
	}
	for name, params := range mechanismsOfCounts(padding) {
		round := func(rng *rand.Rand, fill func(o *opened)) []float64 {
			r := roundOf(name, dim, 1.5, params)
			r.Columns = []string{fl.ColumnFrequency, fl.ColumnConditional}
			o, err := openRound(r, rng)
			if err != nil {
				t.Fatal(err)
			}
			fill(o)
			return features(t, o.agg)
		}
		sameLaw(t, name, rounds,
			func(rng *rand.Rand) []float64 {
				return round(rng, func(o *opened) { encoded(t, o, c.clients(), pairs, rng) })
			},
			func(rng *rand.Rand) []float64 {
				return round(rng, func(o *opened) {
					if err := simulate(o.round, o.agg, c, rng); err != nil {
						t.Fatal(err)
					}
				})
			})
	}
	// An iteration of PrivKVM after some published means.
	first, err := openRound(roundOf(rivals.PrivKVM, dim, 6, fl.Params{rivals.ParamRounds: fl.Int(2)}), rand.New(rand.NewChaCha8([32]byte{7})))
	if err != nil {
		t.Fatal(err)
	}
	published := []float64{0.7, -1, 0, 0.2}[:dim]
	i, err := rivals.NewIteration(first.round, 2, published)
	if err != nil {
		t.Fatal(err)
	}
	means := func(fill func(agg *rivals.IterationAggregator) error) (out []float64) {
		agg := i.NewAggregator()
		if err := fill(agg); err != nil {
			t.Fatal(err)
		}
		m, err := agg.Means()
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range m {
			out = append(out, v, v*v, v*m[(k+1)%dim])
		}
		return out
	}
	sameLaw(t, "iteration", rounds,
		func(rng *rand.Rand) []float64 {
			return means(func(agg *rivals.IterationAggregator) error {
				for client := range c.clients() {
					report, err := i.EncodeKeyValues(nil, pairs(client), rng)
					if err := errors.Join(err, agg.Add(report)); err != nil {
						return err
					}
				}
				return nil
			})
		},
		func(rng *rand.Rand) []float64 {
			return means(func(agg *rivals.IterationAggregator) error {
				return agg.AddCounts(signCounts(i.Guarantee().Epsilon, published, c, rng))
			})
		})
}
