package shufflesum

import (
	"math"
	"math/rand/v2"
	"testing"
)

func newRand() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }

// The means of the data are those of their laws: within 6 standard deviations of
// the sampling error, which has probability 2e-9 per law. Zipf with exponent 5 has
// mean (ζ(4)−ζ(5))/(ζ(5)−1) − … by direct summation here.
func TestDataHaveTheirMeans(t *testing.T) {
	const n, bound = 50_000, 1000
	for _, c := range []struct {
		data distribution
		pmf  func(x float64) float64
	}{
		{zipf(5), func(x float64) float64 { return math.Pow(x+1, -5) }},
		{gauss(5, 5), func(x float64) float64 {
			cdf := func(y float64) float64 { return 0.5 * math.Erfc(-(y-5)/(5*math.Sqrt2)) }
			if x == 1 {
				return cdf(1.5)
			}
			return cdf(x+0.5) - cdf(x-0.5)
		}},
	} {
		var mass, mean, square float64
		for x := 1.0; x <= bound; x++ {
			p := c.pmf(x)
			mass += p
			mean += p * x
			square += p * x * x
		}
		mean /= mass
		deviation := math.Sqrt(square/mass - mean*mean)
		values, err := c.data.draw(n, bound, newRand())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range values {
			if x < 1 || x > bound {
				t.Fatalf("%s drew %d", c.data.name, x)
			}
		}
		if got := total(values) / n; math.Abs(got-mean) > 6*deviation/math.Sqrt(n) {
			t.Errorf("%s: mean %g, want %g ± %g", c.data.name, got, mean, deviation/math.Sqrt(n))
		}
	}
}

func TestBasketsAreSetsOfItems(t *testing.T) {
	clients, counts, err := baskets(2000, 50, newRand())
	if err != nil {
		t.Fatal(err)
	}
	sum, want := 0, 0.0
	for _, items := range clients {
		if len(items) == 0 {
			t.Fatal("a client without items")
		}
		for k, i := range items {
			if i < 0 || i >= 50 || k > 0 && items[k-1] >= i {
				t.Fatalf("items %v", items)
			}
		}
		sum += len(items)
	}
	for _, c := range counts {
		want += c
	}
	if float64(sum) != want || counts[0] <= counts[40] {
		t.Errorf("%d items, counts sum to %g; the first item has %g, the 41st %g", sum, want, counts[0], counts[40])
	}
}
