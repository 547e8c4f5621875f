package rotation_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/rotation"
)

// The formula with 30 digits, by mpmath 1.3.
func TestBoundValues(t *testing.T) {
	for _, c := range []struct {
		norm            float64
		padded, clients int
		beta, want      float64
	}{
		{1, 1, 1, 0.5, 2.0393339803376179355},
		{2, 64, 1, 0.25, 7.4465948221180682655},
		{0.75, 134217728, 1000000000, 1e-09, 8.3211342315154152758},
		{1000000.0, 1024, 10000, 0.1, 6297728.4208974226102},
		{3, 8, 2, 5e-324, 116.08092517759038267},
		{0, 4, 4, 0.5, 0},
	} {
		got := rotation.Bound(c.norm, c.padded, c.clients, c.beta)
		if got < c.want || got > c.want*(1+1e-14) {
			t.Errorf("Bound(%v, %d, %d, %v) = %v, want %v rounded up", c.norm, c.padded, c.clients, c.beta, got, c.want)
		}
	}
}

func TestBoundOfBadInputIsNaN(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		norm            float64
		padded, clients int
		beta            float64
	}{
		{-1, 4, 1, 0.5}, {nan, 4, 1, 0.5}, {inf, 4, 1, 0.5}, {1, 0, 1, 0.5}, {1, 4, 0, 0.5},
		{1, 4, -1, 0.5}, {1, 4, 1, 0}, {1, 4, 1, 1}, {1, 4, 1, nan}, {1, 4, 1, -0.5}, {1, 4, 1, inf},
	} {
		if got := rotation.Bound(c.norm, c.padded, c.clients, c.beta); !math.IsNaN(got) {
			t.Errorf("%+v: got %v, want NaN", c, got)
		}
	}
}

// clientsVectors returns unit vectors that rotations find easy and hard: one coordinate,
// all equal, alternating, half, a random direction, and a ±1 row of H itself.
func clientsVectors(rng *rand.Rand, dim int) [][]float64 {
	vectors := make([][]float64, 6)
	for v := range vectors {
		x := make([]float64, dim)
		for i := range x {
			switch v {
			case 1:
				x[i] = 1
			case 2:
				x[i] = 1 - 2*float64(i%2)
			case 3:
				x[i] = float64(2 * i / dim)
			case 4:
				x[i] = rng.NormFloat64()
			case 5:
				x[i] = hadamard(i, 37)
			}
		}
		if v == 0 {
			x[0] = 1
		}
		floats.Scale(1/floats.Norm(x, 2), x)
		vectors[v] = x
	}
	return vectors
}

// Over keys, some coordinate of some vector exceeds the bound with probability at most
// beta/2. The number of such keys is then at most Binomial(keys, beta/2), which is above
// its mean by 4.9 standard deviations with probability below 10^-6. The bound is
// not idle either: at 70 % of it the same count is far exceeded.
func TestBoundHoldsOverKeys(t *testing.T) {
	const dim, keys, beta = 256, 1000, 0.5
	rng := newRand()
	vectors := clientsVectors(rng, dim)
	bound := rotation.Bound(1, dim, len(vectors), beta)
	limit := keys*beta/2 + 4.9*math.Sqrt(keys*beta/2*(1-beta/2))
	failures, failuresBelow := 0.0, 0.0
	y := make([]float64, dim)
	for range keys {
		var key [32]byte
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		r, largest := mustNew(t, dim, key), 0.0
		for _, x := range vectors {
			if err := r.Forward(y, x); err != nil {
				t.Fatal(err)
			}
			largest = max(largest, floats.Norm(y, math.Inf(1)))
		}
		if largest > bound {
			failures++
		}
		if largest > 0.7*bound {
			failuresBelow++
		}
	}
	if failures > limit {
		t.Errorf("%v of %d keys exceed the bound, want at most %v", failures, keys, limit)
	}
	if failuresBelow <= limit {
		t.Errorf("%v of %d keys exceed 70 %% of the bound, want more than %v", failuresBelow, keys, limit)
	}
	t.Logf("exceeded by %v keys of %d, 70 %% of it by %v", failures, keys, failuresBelow)
}
