package privacy

import (
	"math"
	"math/big"
	"testing"
)

// The two errors in Wang et al. that the package documentation describes.

// twoCounters against 25-digit values, and the blanket above them where the pair
// belongs to a mechanism. n = 1 is outside the range of Delta.
func TestTwoCountersReference(t *testing.T) {
	for _, c := range readGolden(t).Pair {
		want, err := c.Delta.Float64()
		if err != nil {
			t.Fatal(err)
		}
		got := twoCounters(c.N, c.Eps, c.Alpha, c.Alpha, c.EpsC)
		if math.Abs(got/want-1) > 2e-13 {
			t.Errorf("%+v: got %v", c, got)
		}
		if c.S == 0 {
			continue
		}
		if d := mustDelta(t, mustBlanket(t, c.Eps, c.S, c.T), c.N, c.EpsC); d < want {
			t.Errorf("%+v: blanket %v below the pair", c, d)
		}
	}
}

// With the right α = s/Ω the pair falls short of the truth by more than a factor of seven.
func TestPairIsNotABound(t *testing.T) {
	e, q := big.NewRat(3, 1), big.NewRat(5, 2)
	const sparsity, slots, n = 1, 4, 5
	exact := collisionPatterns(e, sparsity, slots).worst(t, n, q)
	pair := exactPair(e, q, sparsity, slots, n)
	if exact.Cmp(times(pair, 7)) <= 0 {
		t.Errorf("exact %s, pair %s: want a factor of seven", exact.FloatString(10), pair.FloatString(10))
	}
	if exact.FloatString(5) != "0.00521" || pair.FloatString(5) != "0.00071" {
		t.Errorf("exact %s, pair %s: want 0.00521 and 0.00071", exact.FloatString(10), pair.FloatString(10))
	}
	want, _ := exact.Float64()
	if got := deltaAround(t, e, q, sparsity, slots, n); got < want {
		t.Errorf("Delta %v below the exact %v", got, want)
	}
}

// With the printed α = s(e−1)/Ω the pair promises ε_c = 0.000661 at n = 10^4, s = 4, ε = 0.1,
// δ = 10^-6. A lower bound on the truth: x and x' mark disjoint sets of four of the
// eleven slots, and each of the other users marks the three that remain, so that its
// report falls on each set with probability 4w/Ω, w = (Ω − 3e)/8. Counting the reports
// in the two sets is a projection of the output, and its divergence is exact.
func TestPrintedAlphaIsUnsafe(t *testing.T) {
	const (
		epsilon  = 0.1
		sparsity = 4
		slots    = 11
		n        = 10_000
		delta    = 1e-6
		promised = 0.00067
	)
	e := math.Exp(epsilon)
	omega := sparsity*e + slots - sparsity
	printed, right := sparsity*(e-1)/omega, sparsity/omega
	others := sparsity * (omega - 3*e) / 8 / omega

	if got := twoCounters(n, epsilon, printed, printed, promised); got > delta {
		t.Errorf("printed α: δ(%v) = %v, want at most %v", promised, got, delta)
	}
	if got := twoCounters(n, epsilon, printed, printed, 0.00066); got <= delta {
		t.Errorf("printed α: δ(0.00066) = %v, want above %v", got, delta)
	}
	if got := twoCounters(n, epsilon, right, others, promised); got < 100*delta {
		t.Errorf("truth: δ(%v) is at least %v, want a hundred times %v", promised, got, delta)
	}
	if got := twoCounters(n, epsilon, right, others, 0.00234); got <= delta {
		t.Errorf("truth: δ(0.00234) is at least %v, want above %v", got, delta)
	}
	if got := mustEpsilon(t, mustBlanket(t, epsilon, sparsity, slots), n, delta); got < 0.00235 || got > 0.00236 {
		t.Errorf("Epsilon = %v, want between 0.00235 and 0.00236", got)
	}
}
