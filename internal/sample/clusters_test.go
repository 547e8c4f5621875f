package sample

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestSharesOfClustersAreNegativeBinomial(t *testing.T) {
	rng := newRand()
	for _, c := range []Clusters{
		{Variables: 1, Clients: 1, Eta: 0.05, Blocks: 10},
		{Variables: 1, Clients: 3, Eta: 0.7, Blocks: 7},
		{Variables: 1, Clients: 2, Eta: 2.5, Blocks: 5},
	} {
		law := NegativeBinomial{R: 1, Eta: c.Eta}.Share(c.Clients)
		requireLaw(t, fmt.Sprint(c), draws, func() (share int64) {
			c.Rand(rng, func(_ int, size int64) { share += size })
			return share
		}, law.CDF)
	}
}

// Clusters of each size and variable are independent Poisson numbers: their counts over
// many draws have the stated means.
func TestClustersFallOnSizesAndVariablesByTheirMeans(t *testing.T) {
	rng := newRand()
	c := Clusters{Variables: 3, Clients: 5, Eta: 0.3, Blocks: 8}
	const sizes = 12
	var counts, expected []float64
	for range c.Variables {
		for j := 1; j <= sizes; j++ {
			counts = append(counts, 0)
			expected = append(expected, draws*math.Exp(-c.Eta*float64(j))/float64(j*c.Clients))
		}
	}
	for range draws {
		c.Rand(rng, func(variable int, size int64) {
			if size <= sizes {
				counts[variable*sizes+int(size)-1]++
			}
		})
	}
	statistic := 0.
	for i, e := range expected {
		statistic += (counts[i] - e) * (counts[i] - e) / e
	}
	// Independent Poisson numbers are not tied by a total: one degree of freedom each.
	if limit := (distuv.ChiSquared{K: float64(len(counts))}).Quantile(1 - chiSquareLevel); statistic > limit {
		t.Errorf("chi-square %.1f of %d numbers, limit %.1f\ncounts   %.0f\nexpected %.1f", statistic, len(counts), limit, counts, expected)
	}
}

func TestPoissonOfARatio(t *testing.T) {
	rng := newRand()
	for _, c := range []struct{ a, b uint64 }{{1, 2}, {1, 7}, {5, 3}, {4, 1}, {40_960, 6000}} {
		law := distuv.Poisson{Lambda: float64(c.a) / float64(c.b)}
		requireLaw(t, fmt.Sprint(c), draws, func() int64 { return int64(poissonRatio(rng, c.a, c.b)) }, func(k int64) float64 { return law.CDF(float64(k)) })
	}
}

// What is left out is at most as much as stated, and not much less.
func TestMissingBoundsWhatIsLeftOut(t *testing.T) {
	for _, c := range []Clusters{{Variables: 7, Clients: 2, Eta: 0.01, Blocks: 9}, {Variables: 1, Clients: 9, Eta: 1.5, Blocks: 2}} {
		sum := 0.
		for j := 1 << c.Blocks; j < 1<<c.Blocks+10_000; j++ {
			sum += float64(c.Variables) * math.Exp(-c.Eta*float64(j)) / float64(j)
		}
		if bound := c.Missing(); !(bound >= sum && bound <= 1.3*sum) {
			t.Errorf("%+v: bound %g, sum %g", c, bound, sum)
		}
	}
}

func TestProductsOfTheDecayAreExact(t *testing.T) {
	rng := newRand()
	for range 1000 {
		eta := math.Ldexp(1+rng.Float64(), -rng.IntN(51)) // down to MinEta
		j := 1 + rng.Uint64()>>(5+rng.IntN(58))
		x := newDecay(eta).times(j)
		got := new(big.Int).SetUint64(x.whole)
		for _, word := range []uint64{x.part.hi, x.part.lo} {
			got.Add(got.Lsh(got, 64), new(big.Int).SetUint64(word))
		}
		want := new(big.Float).SetPrec(200).SetUint64(j)
		want.Mul(want, big.NewFloat(eta)).SetMantExp(want, 128)
		if integer, accuracy := want.Int(nil); accuracy != big.Exact || integer.Cmp(got) != 0 {
			t.Fatalf("%g times %d is %v/2^128, want %v", eta, j, got, integer)
		}
	}
}

// e^−ηj for η·j on both sides of whole numbers.
func TestPowersOfTheDecay(t *testing.T) {
	rng := newRand()
	for _, c := range []struct {
		eta float64
		j   uint64
	}{{0.3, 1}, {0.3, 7}, {1.25, 3}, {3, 1}, {0x1p-30, 1 << 30}, {0x1.8p-50, 1 << 50}, {1e-9, 700_000_000}} {
		d, hits := newDecay(c.eta), 0.
		for range draws {
			if d.power(rng, c.j) {
				hits++
			}
		}
		p := math.Exp(-c.eta * float64(c.j))
		if limit := deviations * math.Sqrt(draws*p*(1-p)); math.Abs(hits-draws*p) > limit {
			t.Errorf("%+v: %g of %d, want %g ± %g", c, hits, draws, draws*p, limit)
		}
	}
}

func BenchmarkClusters(b *testing.B) {
	c := Clusters{Variables: 4096, Clients: 6000, Eta: 0.004, Blocks: 14}
	rng := newRand()
	total := int64(0)
	for b.Loop() {
		c.Rand(rng, func(_ int, size int64) { total += size })
	}
}
