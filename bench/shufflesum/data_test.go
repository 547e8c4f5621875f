package shufflesum

import (
	"math"
	"math/rand/v2"
	"testing"
)

func newRand() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }

// Draws have the means of their laws, within 6 standard deviations of the sampling error (2e-9
// per law). Probabilities are by summation here, discarded ones given that they are inside.
func TestDataHaveTheirMeans(t *testing.T) {
	const n, bound = 50_000, 1000
	cdf := func(y float64) float64 { return 0.5 * math.Erfc(-(y-5)/(5*math.Sqrt2)) }
	for _, c := range []struct {
		data distribution
		pmf  func(x float64) float64
	}{
		{zipf(5), func(x float64) float64 { return math.Pow(x+1, -5) }},
		{gauss(5, 5, clamped), func(x float64) float64 {
			if x == 1 {
				return cdf(1.5)
			}
			return cdf(x+0.5) - cdf(x-0.5)
		}},
		{gauss(5, 5, discarded), func(x float64) float64 { return cdf(x+0.5) - cdf(x-0.5) }},
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
		p := c.data.draw(n, bound, newRand())
		for i, x := range p {
			if x.Value < 1 || x.Value > bound || x.Clients < 1 || i > 0 && p[i-1].Value >= x.Value {
				t.Fatalf("%s drew %v", c.data.name, x)
			}
		}
		if got := p.total() / n; p.clients() != n || math.Abs(got-mean) > 6*deviation/math.Sqrt(n) {
			t.Errorf("%s: %d clients with mean %g, want %g ± %g", c.data.name, p.clients(), got, mean, deviation/math.Sqrt(n))
		}
	}
}

// Inputs far above U all are U where they are clamped.
func TestClampedAtTheBound(t *testing.T) {
	p := gauss(1, 1e5, clamped).draw(10_000, 10, newRand())
	if last := p[len(p)-1]; last.Value != 10 || last.Clients < 4500 || p[0].Clients < 4500 {
		t.Errorf("%v", p)
	}
	p = gauss(1, 1e5, discarded).draw(10_000, 10, newRand())
	if last := p[len(p)-1]; last.Clients > 1500 {
		t.Errorf("%v", p)
	}
}

func TestPopulations(t *testing.T) {
	p := population{{Value: 1, Clients: 5}, {Value: 4, Clients: 2}, {Value: 9, Clients: 1}}
	if p.clients() != 8 || p.total() != 22 {
		t.Errorf("%d clients, total %g", p.clients(), p.total())
	}
	for k, want := range map[int64]int64{1: 9, 2: 4, 3: 4, 4: 1, 8: 1, 9: 0} {
		if got := p.largest(k); got != want {
			t.Errorf("the %d-th largest is %d, want %d", k, got, want)
		}
	}
	for bound, want := range map[int64]float64{9: 22, 5: 18, 4: 17, 3: 14, 1: 8} {
		if got := p.clipped(bound); got.total() != want || got.clients() != 8 {
			t.Errorf("clipped at %d: %v", bound, got)
		}
	}
	for x, want := range map[int64]int64{1: 1, 2: 2, 3: 4, 5: 8, 64: 64, 65: 100, 100: 100} {
		if got := powerAbove(x, 100); got != want {
			t.Errorf("power above %d: %d, want %d", x, got, want)
		}
	}
}

// A stand-in has the paper's number of clients and largest input, and its mean within 3 %: inputs
// are rounded up, by ½ on average, and the tail is cut.
func TestStandIns(t *testing.T) {
	for _, s := range standIns {
		p := s.draw(newRand())
		if mean := p.total() / float64(s.clients); p.clients() != s.clients || p.largest(1) != s.largest || math.Abs(mean-0.5-s.mean) > 0.03*s.mean {
			t.Errorf("%s: %d clients, mean %g, largest %d", s.name, p.clients(), mean, p.largest(1))
		}
		// The second largest of these lognormal inputs is near the largest.
		if next := p.largest(2); next < s.largest/3 {
			t.Errorf("%s: the second largest is %d of %d", s.name, next, s.largest)
		}
	}
}

func TestClicksAreSetsOfItems(t *testing.T) {
	clients, counts, err := clicks(2000, 500, newRand())
	if err != nil {
		t.Fatal(err)
	}
	sum, want := 0, 0.0
	for _, items := range clients {
		if len(items) == 0 {
			t.Fatal("a client without items")
		}
		for k, i := range items {
			if i < 0 || i >= 500 || k > 0 && items[k-1] >= i {
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

// The paper's errors need a largest count of 7300 to 8800 of 50 000 clients, and hardly anybody with
// more than 128 items.
func TestClicksHaveTheLargestCountOfThePaper(t *testing.T) {
	clients, counts, err := clicks(50_000, 16_000, newRand())
	if err != nil {
		t.Fatal(err)
	}
	over := 0
	for _, items := range clients {
		if len(items) > 128 {
			over++
		}
	}
	if counts[0] < 7300 || counts[0] > 8800 || over > 20 {
		t.Errorf("the first item has %g clients, and %d have more than 128 items", counts[0], over)
	}
}
