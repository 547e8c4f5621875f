package compose

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/internal/bigref"
	"github.com/hushgrad/hushgrad/internal/root"
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
	e, at := bigref.Exp(h.Epsilon), bigref.Exp(epsilon)
	powers, sum := bigref.Powers(e, k), bigref.Of(0)
	for l := 0; l <= k; l++ {
		term := new(big.Float).SetPrec(bigref.Precision).Sub(powers[k-l], bigref.Mul(at, powers[l]))
		// What is left of equal powers is the rounding of 320 bits.
		if term.Cmp(bigref.Mul(bigref.Of(1e-80), powers[k-l])) > 0 {
			ways := new(big.Float).SetPrec(bigref.Precision).SetInt(new(big.Int).Binomial(int64(k), int64(l)))
			sum = bigref.Add(sum, bigref.Mul(ways, term))
		}
	}
	return withFailures(h, bigref.Quo(sum, bigref.Powers(bigref.Add(bigref.Of(1), e), k)[k]))
}

// theorem33 is Theorem 3.3 as it is printed: δ_i of ε_i = (k − 2i)·ε.
func theorem33(h Homogeneous, i int) float64 {
	k := h.Count
	e := bigref.Exp(h.Epsilon)
	powers, sum := bigref.Powers(e, 2*k), bigref.Of(0)
	for l := 0; l < i; l++ {
		term := new(big.Float).SetPrec(bigref.Precision).Sub(powers[k-l], powers[k-2*i+l])
		ways := new(big.Float).SetPrec(bigref.Precision).SetInt(new(big.Int).Binomial(int64(k), int64(l)))
		sum = bigref.Add(sum, bigref.Mul(ways, term))
	}
	return withFailures(h, bigref.Quo(sum, bigref.Powers(bigref.Add(bigref.Of(1), e), k)[k]))
}

// withFailures returns 1 − (1 − δ)^k·(1 − d).
func withFailures(h Homogeneous, d *big.Float) float64 {
	one, minus := bigref.Of(1), new(big.Float).SetPrec(bigref.Precision)
	survival := bigref.Powers(minus.Sub(one, bigref.Of(h.Delta)), h.Count)[h.Count]
	rest := bigref.Mul(survival, new(big.Float).SetPrec(bigref.Precision).Sub(one, d))
	result, _ := new(big.Float).SetPrec(bigref.Precision).Sub(one, rest).Float64()
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

func TestEpsilonAtInvertsDeltaAt(t *testing.T) {
	for _, h := range []Homogeneous{
		{0.1, 0, 1}, {1, 1e-9, 7}, {0.01, 1e-12, 1000}, {20, 1e-15, 30}, {1e-9, 0, 10_000_000}, {0.001, 1e-15, 1_000_000},
	} {
		for _, delta := range []float64{1e-8, 1e-6, 1e-3, 0.5} {
			got, err := h.EpsilonAt(delta)
			if err != nil {
				t.Fatal(err)
			}
			if d := mustDeltaAt(t, h, got); d > delta {
				t.Errorf("%+v: δ at EpsilonAt(%v) = %v is %v", h, delta, got, d)
			}
			if got == 0 {
				continue
			}
			if d := mustDeltaAt(t, h, got*(1-2*root.Tolerance)); d <= delta {
				t.Errorf("%+v: EpsilonAt(%v) = %v is not the smallest: just below δ is %v", h, delta, got, d)
			}
		}
	}
}

// What is spent outright is found sufficient, and gives basic composition; a little less is an error.
func TestEpsilonAtTheLeastDelta(t *testing.T) {
	for _, c := range []struct {
		h     Homogeneous
		delta float64
	}{{Homogeneous{0.3, 0, 9}, 0}, {Homogeneous{0.3, 1e-6, 1}, 1e-6}, {Homogeneous{0.7, 1e-6 / 300, 300}, 1e-6 / 300 * 300}} {
		basic := c.h.Epsilon * float64(c.h.Count)
		got, err := c.h.EpsilonAt(c.delta)
		// Of many mechanisms at most all but a few tell the truth: at δ of 10^-9 that is less.
		if err != nil || got > math.Nextafter(basic, 100) || c.h.Count == 1 && got != basic || c.delta == 0 && got < basic {
			t.Errorf("%+v: EpsilonAt(%v) = %v, %v, want at most %v", c.h, c.delta, got, err, basic)
		}
	}
	if got, err := (Homogeneous{1, 1e-3, 2}).EpsilonAt(1.998e-3); err == nil {
		t.Errorf("δ below 1-(1-10^-3)^2: got %v", got)
	}
}

func TestPerMechanismInverts(t *testing.T) {
	for _, count := range []int{1, 2, 17, 8192, 1_000_000} {
		last := math.Inf(1)
		for _, epsilon := range []float64{8, 1, 0.1} {
			for _, delta := range []float64{1e-3, 1e-6, 1e-10} {
				each := delta / float64(4*count)
				got, err := PerMechanism(epsilon, delta, each, count)
				if err != nil {
					t.Fatal(err)
				}
				if got*float64(count) < epsilon*(1-2*root.Tolerance) {
					t.Errorf("k=%d (%v, %v): ε' = %v, below basic composition", count, epsilon, delta, got)
				}
				if d := mustDeltaAt(t, Homogeneous{got, each, count}, epsilon); d > delta {
					t.Errorf("k=%d (%v, %v): ε' = %v has δ = %v", count, epsilon, delta, got, d)
				}
				if d := mustDeltaAt(t, Homogeneous{got * (1 + 2*root.Tolerance), each, count}, epsilon); d <= delta {
					t.Errorf("k=%d (%v, %v): ε' = %v is not the largest: just above δ is %v", count, epsilon, delta, got, d)
				}
				if got >= last {
					t.Errorf("k=%d (%v, %v): ε' = %v, not below %v of a larger budget", count, epsilon, delta, got, last)
				}
				last = got
				if less, err := PerMechanism(epsilon, delta, 2*each, count); err != nil || less > got*(1+2*root.Tolerance) {
					t.Errorf("k=%d (%v, %v): ε' grows from %v to %v with δ' (%v)", count, epsilon, delta, got, less, err)
				}
			}
			last = math.Inf(1)
		}
	}
}

// The rule of thumb of Dwork, Rothblum and Vadhan, ε' = ε/(2√(2k·ln(2/δ))) for ε <= 1 and δ' = δ/(2k),
// is never better.
func TestPerMechanismBeatsTheRuleOfThumb(t *testing.T) {
	for _, count := range []int{1, 4, 100, 16384} {
		for _, delta := range []float64{1e-5, 1e-9} {
			rule := 1 / (2 * math.Sqrt(2*float64(count)*math.Log(2/delta)))
			got, err := PerMechanism(1, delta, delta/float64(2*count), count)
			if err != nil || got < rule {
				t.Errorf("k=%d δ=%v: ε' = %v, %v, rule of thumb %v", count, delta, got, err, rule)
			}
		}
	}
}

func TestPerMechanismHasALimit(t *testing.T) {
	for _, c := range []struct{ epsilon, delta float64 }{{20, 0.5}, {21, 1e-9}, {1e300, 1e-9}, {19, 0.9}} {
		if got, err := PerMechanism(c.epsilon, c.delta, 0, 1); got != maxEach || err != nil {
			t.Errorf("%+v: got %v, %v, want %v", c, got, err, maxEach)
		}
	}
}

func TestHomogeneousRefusesBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := Homogeneous{1, 1e-6, 3}
	for _, h := range []Homogeneous{
		{-1, 0, 1}, {nan, 0, 1}, {inf, 0, 1}, {20.1, 0, 1}, {1, -1e-9, 1}, {1, 1, 1}, {1, nan, 1}, {1, inf, 1}, {1, 0, 0}, {1, 0, -5}, {1, 0, maxCount + 1},
	} {
		if got, err := h.DeltaAt(1); err == nil {
			t.Errorf("%+v.DeltaAt: got %v", h, got)
		}
		if got, err := h.EpsilonAt(0.5); err == nil {
			t.Errorf("%+v.EpsilonAt: got %v", h, got)
		}
	}
	for _, x := range []float64{-1, nan, inf} {
		if got, err := good.DeltaAt(x); err == nil {
			t.Errorf("DeltaAt(%v): got %v", x, got)
		}
		if got, err := PerMechanism(x, 0.1, 0, 3); err == nil {
			t.Errorf("PerMechanism(%v): got %v", x, got)
		}
	}
	for _, x := range []float64{-1, 1, nan, inf} {
		if got, err := good.EpsilonAt(x); err == nil {
			t.Errorf("EpsilonAt(%v): got %v", x, got)
		}
		if got, err := PerMechanism(1, x, 0, 3); err == nil {
			t.Errorf("PerMechanism with delta %v: got %v", x, got)
		}
	}
	for _, c := range []struct {
		epsilon, delta, each float64
		count                int
	}{{0, 0.1, 0, 3}, {1, 0, 0, 3}, {1, 0.1, nan, 3}, {1, 0.1, -0.1, 3}, {1, 0.1, 0.1, 1}, {1, 0.1, 0.05, 3}, {1, 0.1, 0, 0}, {1, 0.1, 0, maxCount + 1}} {
		if got, err := PerMechanism(c.epsilon, c.delta, c.each, c.count); err == nil {
			t.Errorf("PerMechanism%+v: got %v", c, got)
		}
	}
}

func BenchmarkHomogeneous(b *testing.B) {
	for _, count := range []int{1000, 1_000_000, 10_000_000} {
		h := Homogeneous{1 / math.Sqrt(float64(count)), 1e-15, count}
		b.Run(fmt.Sprintf("do=DeltaAt/k=%d", count), func(b *testing.B) {
			for b.Loop() {
				mustDeltaAt(b, h, 1)
			}
		})
		b.Run(fmt.Sprintf("do=PerMechanism/k=%d", count), func(b *testing.B) {
			for b.Loop() {
				if _, err := PerMechanism(1, 1e-6, 1e-15, count); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
