package keyvalues

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestSingles(t *testing.T) {
	for distribution, name := range distributions {
		const clients, dim = 20_000, 400
		p := newSingles(distribution, clients, dim, rand.New(rand.NewChaCha8([32]byte{7})))
		sum, centre := 0, 0
		for k, n := range p.holders {
			sum += n
			if k >= 150 && k < 250 {
				centre += n
			}
			if math.Abs(p.mean[k]) > 1 {
				t.Errorf("%s: key %d has the mean %g", name, k, p.mean[k])
			}
		}
		// 100 keys of 400, or one standard deviation (rounded to integers) to each side,
		// 0.6827 up to 0.001: ± 5 standard deviations of 20000 clients.
		want := 0.25
		if distribution == gaussianKeys {
			want = 0.6827
		}
		if share := float64(centre) / clients; sum != clients || math.Abs(share-want) > 0.018 {
			t.Errorf("%s: %d clients, a share of %g in the middle, want %g", name, sum, share, want)
		}
		for _, s := range scopes {
			keys := s.keys(p)
			if s.top > 0 && len(keys) != s.top {
				t.Errorf("%s, %s: %d keys", name, s.name, len(keys))
			}
			seen := 0
			for i, k := range keys {
				if p.holders[k] == 0 || i > 0 && p.holders[keys[i-1]] < p.holders[k] {
					t.Errorf("%s, %s: key %d is out of order", name, s.name, k)
				}
				seen += p.holders[k]
			}
			if s.top == 0 && seen != clients {
				t.Errorf("%s, %s: the keys have %d holders", name, s.name, seen)
			}
		}
	}
}

func TestSimulatedSinglesHaveTheLawOfEncodedOnes(t *testing.T) {
	p := &singles{holders: []int{20, 9, 0, 6}, mean: []float64{0.4, -1, 0.9, -0.3}, clients: 35}
	var pairs [][]fl.KeyValue
	for k, n := range p.holders {
		for range n {
			pairs = append(pairs, []fl.KeyValue{{Key: uint32(k), Value: p.mean[k]}})
		}
	}
	for name, params := range mechanismsOfCounts(1) {
		round := func(rng *rand.Rand, fill func(o *opened)) []float64 {
			r := roundOf(name, 4, 1.5, params)
			r.Columns = []string{fl.ColumnFrequency, fl.ColumnConditional}
			o, err := openRound(r, rng)
			if err != nil {
				t.Fatal(err)
			}
			fill(o)
			return features(t, o.agg)
		}
		sameLaw(t, name, 3000,
			func(rng *rand.Rand) []float64 {
				return round(rng, func(o *opened) {
					encoded(t, o, p.clients, func(client int) []fl.KeyValue { return pairs[client] }, rng)
				})
			},
			func(rng *rand.Rand) []float64 {
				return round(rng, func(o *opened) {
					if err := simulate(o.round, o.agg, p, rng); err != nil {
						t.Fatal(err)
					}
				})
			})
	}
}
