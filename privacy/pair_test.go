package privacy

import (
	"fmt"
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
	pair := exactPair(e, q, rightAlpha(e, sparsity, slots), n)
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

// With the printed α the pair is below the truth for every mechanism, the sign sketch included,
// for which the pair with the right α is the blanket itself.
func TestPrintedAlphaFailsEverywhere(t *testing.T) {
	e := big.NewRat(3, 2)
	for _, c := range []struct {
		name               string
		r                  randomizer
		sparsity, slots, n int
	}{
		{"collision", collisionPatterns(e, 1, 4), 1, 4, 5},
		{"coco", cocoPatterns(e, 2, 4), 2, 4, 4},
		{"sign sketch", sketchPatterns(e, 1, 2), 1, 2, 6},
	} {
		q := between(e, big.NewRat(1, 5))
		exact := c.r.worst(t, c.n, q)
		if printed := exactPair(e, q, printedAlpha(e, c.sparsity, c.slots), c.n); printed.Cmp(exact) >= 0 {
			t.Errorf("%s: printed α gives %s, exact %s: want it below", c.name, printed.FloatString(10), exact.FloatString(10))
		}
		if c.slots != 2*c.sparsity {
			continue
		}
		pair, blanket := exactPair(e, q, rightAlpha(e, c.sparsity, c.slots), c.n), exactBlanket(e, q, c.sparsity, c.slots, c.n)
		if pair.Cmp(blanket) != 0 {
			t.Errorf("%s: t = 2s: pair %s, blanket %s: want equal", c.name, pair.FloatString(10), blanket.FloatString(10))
		}
	}
}

// With the printed α = s(e−1)/Ω the pair promises ε_c = 0.000661 at n = 10^4, s = 4, ε = 0.1,
// δ = 10^-6. A lower bound on the truth: x and x' mark disjoint sets of four of the
// eleven slots, and each of the other clients marks the three that remain, so that its
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

// The curve is the root of the divergence that twoCounters sums directly.
func TestPairCurveInvertsThePair(t *testing.T) {
	for _, c := range []struct{ epsilon, alpha float64 }{{0.1, 0.35}, {0.1, 0.1}, {1, 0.26}, {3, 0.02}, {6, 1e-3}} {
		curve, err := PairCurve(c.epsilon, c.alpha)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{50, 3000, 200_000} {
			const delta = 1e-7
			got, err := curve.Curve(n, delta)
			if err != nil {
				t.Fatal(err)
			}
			if d := twoCounters(n, c.epsilon, c.alpha, c.alpha, got); math.Abs(d/delta-1) > 1e-7 {
				t.Errorf("%+v n=%d: δ at %v is %v, want %v", c, n, got, d, delta)
			}
		}
	}
}

func TestPairCurveErrors(t *testing.T) {
	if _, err := PairCurve(21, 0.1); !isInvalid(err, "privacy: epsilon: got 21, rule: must be in (0, 20]") {
		t.Errorf("epsilon 21: %v", err)
	}
	for _, alpha := range []float64{0, -1, 0.27, math.NaN()} { // 1/(e+1) is 0.2689
		want := fmt.Sprintf("privacy: alpha: got %v, rule: must be in (0, 1/(e^1 + 1)] and below 1/2", alpha)
		if c, err := PairCurve(1, alpha); !isInvalid(err, want) || c.Curve != nil {
			t.Errorf("alpha %v: got error %v, want %q", alpha, err, want)
		}
	}
	if _, err := PairCurve(1e-300, 0.5); err == nil {
		t.Error("alpha 1/2: got no error")
	}
}
