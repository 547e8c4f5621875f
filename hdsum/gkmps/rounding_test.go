package gkmps

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
)

func rounded(t *testing.T, clients int, bound int64) *Protocol {
	t.Helper()
	p, err := New(Config{Clients: clients, Bound: bound, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne, Rounding: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// By enumeration of all draws: the results have exactly the mean x/B, stay next to it
// and within {0..U'}, and 0 stays 0.
func TestRoundingIsUnbiased(t *testing.T) {
	for _, c := range []struct {
		clients int
		bound   int64
	}{{1, 100}, {1, 97}, {10, 1000}, {3, 333}, {100000, 1000}} {
		p := rounded(t, c.clients, c.bound)
		b := p.Width()
		for x := int64(0); x <= c.bound; x++ {
			mean := new(big.Rat)
			law, err := exact.Enumerate(int(b), func(choose exact.Chooser) (int64, error) { return round(x, b, choose), nil })
			if err != nil {
				t.Fatal(err)
			}
			for v, prob := range law {
				mean.Add(mean, prob.Mul(prob, big.NewRat(v, 1)))
				if v < x/b || v > (x+b-1)/b || v > p.Bound() {
					t.Fatalf("B = %d: %d becomes %d", b, x, v)
				}
			}
			if mean.Cmp(big.NewRat(x, b)) != 0 {
				t.Errorf("n = %d, U = %d, B = %d: the mean of Round(%d) is %s", c.clients, c.bound, b, x, mean)
			}
		}
	}
}

func TestRoundRefuses(t *testing.T) {
	p := rounded(t, 10, 1000) // B = 100
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for x := int64(0); x <= 1000; x += 100 {
		if v, err := p.Round(x, rng); err != nil || v != x/100 {
			t.Errorf("Round(%d) = %d, %v", x, v, err)
		}
	}
	for _, x := range []int64{-1, 1001, math.MinInt64, math.MaxInt64} {
		var bad *fl.ParamError
		if _, err := p.Round(x, rng); !errors.As(err, &bad) || bad.Param != "x" {
			t.Errorf("Round(%d): %v", x, err)
		}
	}
}

// Rounding sets in above √(n/ζ), = 100 for n = 1000 and ε = 1, and its variance is
// the largest possible one: B²/4 per client, in the middle of two multiples.
func TestWidth(t *testing.T) {
	for _, c := range []struct {
		bound, width, rounded int64
		variance              float64
	}{{1, 1, 1, 0}, {100, 1, 100, 0}, {101, 2, 51, 1000}, {200, 2, 100, 1000}, {201, 3, 67, 2250}, {MaxBound, 21474837, 100, 1000. * 21474837 * 21474837 / 4}} {
		p := rounded(t, 1000, c.bound)
		if p.Width() != c.width || p.Bound() != c.rounded || p.RoundingVariance() != c.variance {
			t.Errorf("U = %d: B = %d, U' = %d, variance %g, want %d, %d, %g",
				c.bound, p.Width(), p.Bound(), p.RoundingVariance(), c.width, c.rounded, c.variance)
		}
	}
	if w := widthFor(1000, 1000, 10); w != 4 { // ζ = 0.01: R = 316.2
		t.Errorf("ε = 10: B = %d, want 4", w)
	}
}
