package privacy

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func mustDeltaAt(t testing.TB, h Homogeneous, epsilon float64) float64 {
	t.Helper()
	delta, err := h.DeltaAt(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return delta
}

// requireUpper wants got to be at or above want, by no more than what DeltaAt promises;
// twice the slack leaves room for the roundings that the slack is there for.
func requireUpper(t *testing.T, got, want float64, what string, args ...any) {
	t.Helper()
	if got < want*(1-1e-15) || got > want*(1+2*homogeneousSlack)+negligible {
		t.Errorf("%s: got %v, want %v rounded up (off by %.3g)", fmt.Sprintf(what, args...), got, want, got/want-1)
	}
}

// One mechanism: δ + (1 − δ)·(e^ε − e^ε')_+/(1 + e^ε).
func TestOneMechanism(t *testing.T) {
	for _, epsilon := range []float64{1e-9, 0.01, 1, 5, 20} {
		for _, delta := range []float64{0, 1e-15, 1e-6, 0.3} {
			h := Homogeneous{epsilon, delta, 1}
			for _, part := range []float64{0, 0.3, 0.99, 1, 1.5} {
				at := part * epsilon
				want := delta
				if at < epsilon {
					want += (1 - delta) * -math.Expm1(at-epsilon) / (1 + math.Exp(-epsilon))
				}
				requireUpper(t, mustDeltaAt(t, h, at), want, "%+v at %v", h, at)
			}
			if got := mustDeltaAt(t, h, epsilon); got != delta {
				t.Errorf("%+v: δ at its own ε is %v", h, got)
			}
		}
	}
}

// enumerateComposition is Σ (P − e^ε·Q)_+ over all 4^k outcomes of k randomized responses
// with two error symbols, one for each input.
func enumerateComposition(h Homogeneous, epsilon float64) float64 {
	e := math.Exp(h.Epsilon)
	up, down := (1-h.Delta)*e/(1+e), (1-h.Delta)/(1+e)
	p, q := [4]float64{h.Delta, up, down, 0}, [4]float64{0, down, up, h.Delta}
	var descend func(left int, mp, mq float64) float64
	descend = func(left int, mp, mq float64) float64 {
		if left == 0 {
			return math.Max(0, mp-math.Exp(epsilon)*mq)
		}
		sum := 0.0
		for o := range p {
			sum += descend(left-1, mp*p[o], mq*q[o])
		}
		return sum
	}
	return descend(h.Count, 1, 1)
}

func TestAgainstAllOutcomes(t *testing.T) {
	for count := 1; count <= 6; count++ {
		for _, h := range []Homogeneous{{0.1, 0.01, count}, {1, 0, count}, {0.7, 0.2, count}, {3, 1e-3, count}} {
			for _, part := range []float64{0, 0.1, 1.0 / 3, 0.5, 0.77, 1, 1.2} {
				at := part * float64(count) * h.Epsilon
				got, want := mustDeltaAt(t, h, at), enumerateComposition(h, at)
				if math.Abs(got-want) > 2e-10*want+1e-14 { // 4^6 additions of numbers below 1
					t.Errorf("%+v at %v: got %v, want %v", h, at, got, want)
				}
			}
		}
	}
}

// exactComposition is (1) of Homogeneous with 320 bits, from the definition of P and Q.
func exactComposition(h Homogeneous, epsilon float64) float64 {
	k := h.Count
	e, at := bigExp(h.Epsilon), bigExp(epsilon)
	powers, sum := bigPowers(e, k), bigOf(0)
	for l := 0; l <= k; l++ {
		term := new(big.Float).SetPrec(bigPrecision).Sub(powers[k-l], bigMul(at, powers[l]))
		// What is left of equal powers is the rounding of 320 bits.
		if term.Cmp(bigMul(bigOf(1e-80), powers[k-l])) > 0 {
			ways := new(big.Float).SetPrec(bigPrecision).SetInt(new(big.Int).Binomial(int64(k), int64(l)))
			sum = bigAdd(sum, bigMul(ways, term))
		}
	}
	return withFailures(h, bigQuo(sum, bigPowers(bigAdd(bigOf(1), e), k)[k]))
}

// theorem33 is Theorem 3.3 as it is printed: δ_i of ε_i = (k − 2i)·ε.
func theorem33(h Homogeneous, i int) float64 {
	k := h.Count
	e := bigExp(h.Epsilon)
	powers, sum := bigPowers(e, 2*k), bigOf(0)
	for l := 0; l < i; l++ {
		term := new(big.Float).SetPrec(bigPrecision).Sub(powers[k-l], powers[k-2*i+l])
		ways := new(big.Float).SetPrec(bigPrecision).SetInt(new(big.Int).Binomial(int64(k), int64(l)))
		sum = bigAdd(sum, bigMul(ways, term))
	}
	return withFailures(h, bigQuo(sum, bigPowers(bigAdd(bigOf(1), e), k)[k]))
}

// withFailures returns 1 − (1 − δ)^k·(1 − d).
func withFailures(h Homogeneous, d *big.Float) float64 {
	one, minus := bigOf(1), new(big.Float).SetPrec(bigPrecision)
	survival := bigPowers(minus.Sub(one, bigOf(h.Delta)), h.Count)[h.Count]
	rest := bigMul(survival, new(big.Float).SetPrec(bigPrecision).Sub(one, d))
	result, _ := new(big.Float).SetPrec(bigPrecision).Sub(one, rest).Float64()
	return result
}

func TestAgainstExactSums(t *testing.T) {
	for _, count := range []int{2, 3, 7, 15, 16, 17, 60} {
		for _, h := range []Homogeneous{{1e-9, 0, count}, {0.01, 1e-15, count}, {0.3, 1e-6, count}, {2, 0, count}, {20, 1e-9, count}} {
			for _, part := range []float64{0, 0.01, 0.1, 0.35, 0.6, 0.95, 0.999999, 1} {
				at := part * float64(count) * h.Epsilon
				requireUpper(t, mustDeltaAt(t, h, at), exactComposition(h, at), "%+v at %v", h, at)
			}
		}
	}
}

func TestAgreesWithTheorem33(t *testing.T) {
	for _, h := range []Homogeneous{{0.5, 1e-5, 9}, {0.25, 0, 40}, {2, 1e-9, 25}} { // ε_i has no rounding
		for i := 0; i <= h.Count/2; i++ {
			at := float64(h.Count-2*i) * h.Epsilon
			requireUpper(t, mustDeltaAt(t, h, at), theorem33(h, i), "%+v at %v", h, at)
		}
	}
}

// Random budgets, far from any grid.
func TestRandomSweepAgainstExactSums(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for range 300 {
		h := Homogeneous{
			Epsilon: math.Exp(math.Log(1e-9) + rng.Float64()*math.Log(20e9)),
			Delta:   math.Exp(-35 * rng.Float64()),
			Count:   1 + rng.IntN(50),
		}
		at := rng.Float64() * float64(h.Count) * h.Epsilon
		requireUpper(t, mustDeltaAt(t, h, at), exactComposition(h, at), "%+v at %v", h, at)
	}
}

// Formula (1) with 60 digits, summed term by term by mpmath 1.3, which shares no code
// with this package.
func TestManyMechanisms(t *testing.T) {
	for _, c := range []struct {
		h        Homogeneous
		at, want float64
	}{
		{Homogeneous{0.05, 1e-09, 1000}, 3.0, 0.0617832265951609931},
		{Homogeneous{0.001, 0.0, 100000}, 1.0, 0.00010979545840710806},
		{Homogeneous{0.001, 1e-15, 1000000}, 5.0, 5.80334541046407587e-7},
		{Homogeneous{1e-09, 0.0, 1000000}, 0.0, 3.98942180665858447e-7},
		{Homogeneous{1e-09, 1e-15, 10000000}, 1e-06, 8.34124504176648008e-7},
		{Homogeneous{0.0005, 1e-12, 10000000}, 10.0, 0.0000100032875430610313},
		{Homogeneous{0.0005, 0.0, 10000000}, 0.5, 0.461128585712895458},
		{Homogeneous{0.001, 0.0, 1000000}, 20.0, 2.62888068031228493e-86},
		{Homogeneous{0.0003, 0.0, 10000000}, 30.0, 7.78945673775322154e-215},
		{Homogeneous{20.0, 0.0, 1000}, 19990.0, 0.99995253901231751},
		{Homogeneous{5.0, 1e-09, 10000}, 49500.0, 0.0132122420586585499},
	} {
		requireUpper(t, mustDeltaAt(t, c.h, c.at), c.want, "%+v at %v", c.h, c.at)
	}
}

// Where the terms are below what float64 holds, the result is 10^-250 and not zero; where
// nothing is lost for certain, it is zero.
func TestNegligibleDivergence(t *testing.T) {
	h := Homogeneous{0.001, 0, 1_000_000}
	if got := mustDeltaAt(t, h, 100); got < negligible || got > 2*negligible {
		t.Errorf("got %v, want about %v", got, negligible)
	}
	if got := mustDeltaAt(t, h, productUp(h.Epsilon, h.Count)); got != 0 {
		t.Errorf("at count·ε: got %v, want 0", got)
	}
	if got := mustDeltaAt(t, Homogeneous{0, 0, 10}, 0); got != 0 {
		t.Errorf("nothing shown: got %v, want 0", got)
	}
}

// Never worse than basic composition (kε, kδ), nor than advanced composition (Dwork,
// Rothblum and Vadhan, Boosting and Differential Privacy, FOCS 2010, Theorem III.3).
func TestNeverWorseThanOlderTheorems(t *testing.T) {
	for _, count := range []int{1, 2, 10, 1000, 1_000_000} {
		for _, epsilon := range []float64{1e-6, 1e-3, 0.1, 1} {
			for _, delta := range []float64{0, 1e-15, 1e-9} {
				h, k := Homogeneous{epsilon, delta, count}, float64(count)
				if got := mustDeltaAt(t, h, productUp(epsilon, count)); got > k*delta*(1+1e-15) {
					t.Errorf("%+v: δ = %v at kε, basic composition has %v", h, got, k*delta)
				}
				for _, extra := range []float64{1e-12, 1e-6, 0.1} {
					at := epsilon*math.Sqrt(2*k*math.Log(1/extra)) + k*epsilon*math.Expm1(epsilon)
					if got := mustDeltaAt(t, h, at); got > k*delta+extra {
						t.Errorf("%+v: δ = %v at %v, advanced composition has %v", h, got, at, k*delta+extra)
					}
				}
			}
		}
	}
}

// Many weak mechanisms are one Gaussian mechanism with μ = √k·ε (Dong, Roth and Su,
// Gaussian Differential Privacy, JRSS B 84(1), 2022, section 3): the skewness and the
// lattice of the privacy loss move δ by O(1/k), here below 1/k.
func TestManyWeakMechanismsAreGaussian(t *testing.T) {
	for _, count := range []int{1000, 30_000, 1_000_000} {
		for _, mu := range []float64{0.1, 0.5, 1, 3} {
			h := Homogeneous{mu / math.Sqrt(float64(count)), 0, count}
			for _, at := range []float64{0, 0.2, 1, 4} {
				phi := distuv.UnitNormal.CDF
				want := phi(mu/2-at/mu) - math.Exp(at)*phi(-mu/2-at/mu)
				if got := mustDeltaAt(t, h, at); math.Abs(got-want) > 1/float64(count) {
					t.Errorf("k=%d μ=%v ε=%v: δ = %v, Gaussian %v, apart by %.3g/k", count, mu, at, got, want, (got-want)*float64(count))
				}
			}
		}
	}
}

func TestDeltaAtFallsWithEpsilonAndGrowsWithBudgets(t *testing.T) {
	const slack = 1 + 2*homogeneousSlack
	for _, count := range []int{1, 5, 64, 5000} {
		h := Homogeneous{0.05, 1e-9, count}
		last := 1.0
		for i := range 60 {
			at := float64(i) / 50 * float64(count) * h.Epsilon
			got := mustDeltaAt(t, h, at)
			if got > last*slack {
				t.Errorf("%+v: δ grows to %v at %v", h, got, at)
			}
			last = got
			for _, more := range []Homogeneous{{0.06, 1e-9, count}, {0.05, 2e-9, count}, {0.05, 1e-9, count + 1}} {
				if bigger := mustDeltaAt(t, more, at); bigger*slack < got {
					t.Errorf("%+v at %v: δ = %v, and %v for the smaller %+v", more, at, bigger, got, h)
				}
			}
		}
	}
}
