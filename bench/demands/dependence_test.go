package demands

import (
	"math"
	"math/rand/v2"
	"testing"
)

func draw(n int, d dependence) *population {
	return d.draw(n, 5, rand.New(rand.NewChaCha8([32]byte{7})))
}

// share is the part of the clients of a category, or of all for category −1, whose ln ε
// is below a bound.
func (p *population) share(category int, bound float64) float64 {
	below, all := 0., 0.
	for i, c := range p.values {
		if category >= 0 && c != category {
			continue
		}
		all++
		if math.Log(p.eps[i]) < bound {
			below++
		}
	}
	return below / all
}

// near allows 6 standard deviations of a share of at least 1/16 of 20,000 clients:
// probability below 1e-8 for each of the 80 comparisons in this file.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 6*math.Sqrt(max(want*(1-want), 1e-4)*16/20_000) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// Every category has its demands where its generator puts them: the quarter, the half
// and the three quarters of its window have these shares below them.
func TestDemandsOfACategory(t *testing.T) {
	for d, ends := range map[dependence]func(c float64) (low, high float64){
		sorted:      func(c float64) (float64, float64) { return -5 + 10*c*(c+1)/30, -5 + 10*(c+1)*(c+2)/30 },
		windows:     func(c float64) (float64, float64) { return -5 + 2*c, -3 + 2*c },
		overlapping: func(c float64) (float64, float64) { return -5 + 5*c/4, 5 * c / 4 },
		narrow:      func(c float64) (float64, float64) { return -2 + 0.8*c, -1.2 + 0.8*c },
	} {
		p := draw(20_000, d)
		for c := range 5 {
			low, high := ends(float64(c))
			if below, above := p.share(c, low-1e-9), p.share(c, high+1e-9); below != 0 || above != 1 {
				t.Errorf("%v: category %d has %g of its clients below %g, %g below %g", d, c, below, low, above, high)
			}
			for _, q := range []float64{0.25, 0.5, 0.75} {
				near(t, d.String(), p.share(c, low+q*(high-low)), q)
			}
		}
	}
}

// Below the median demand the first category is the most frequent, above it the last.
func TestHalvesAreReversed(t *testing.T) {
	p := draw(20_000, halves)
	for c := range 5 {
		near(t, "share of a category", p.truth[c], 0.2)
		near(t, "strict clients of a category", p.share(c, 0), float64(5-c)/6)
	}
	near(t, "strict clients", p.share(-1, 0), 0.5)
}

// One strict client in ten has the categories in reverse. Of 200 000 clients at least 32 000
// are in each category, so that 6 standard deviations of a share are below 0.017.
func TestWeakIsHalvesForOneInTen(t *testing.T) {
	p := draw(200_000, weak)
	for c := range 5 {
		loose := float64(c+1) / 15
		strict := 0.9*loose + 0.1*float64(5-c)/15
		if got, want := p.share(c, 0), strict/(loose+strict); math.Abs(got-want) > 0.017 {
			t.Errorf("category %d: %g of its clients are strict, want %g", c, got, want)
		}
	}
}
