package privacy

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// cloneKinds is the clone bound in high bigPrecision.
func cloneKinds(e *big.Float) kinds {
	scale := bigQuo(bigMul(bigOf(2), e), bigAdd(e, bigOf(1)))
	return kinds{e, scale, bigQuo(bigOf(0.5), e), bigOf(0), false}
}

// Delta against the sum over every outcome in 320-bit arithmetic, with the tolerances of
// TestDeltaMatchesEnumeration.
func TestCloneMatchesEnumeration(t *testing.T) {
	for _, epsilon := range []float64{1e-3, 0.1, 1, 3, 8, 20} {
		c, e := mustClone(t, epsilon), bigExp(epsilon)
		for _, n := range []int{2, 3, 17, 60} {
			if n == 60 && epsilon != 3 && !*Long {
				continue
			}
			for _, share := range []float64{0, 1e-9, 0.05, 0.3, 0.5, 0.9, 0.9999} {
				epsilonCentral := share * epsilon
				want := cloneKinds(e).sum(bigExp(epsilonCentral), n)
				got := mustDelta(t, c, n, epsilonCentral)
				exact, _ := want.Float64()
				tolerance := exact*1e-12 + 0x1p-48*c.gain*c.paired*math.Exp(epsilonCentral)
				if bigOf(got).Cmp(want) < 0 || got-exact > tolerance {
					t.Errorf("eps=%v n=%d eps_c=%v: got %v, exact %v, off by %.3g", epsilon, n, epsilonCentral, got, exact, got/exact-1)
				}
			}
		}
	}
}

// Theorem 3.2 as it is stated, for few clients: the laws of both counters by their
// definition, and the divergence in both directions.
func TestCloneMatchesThePairOfLaws(t *testing.T) {
	const n = 6
	e, half := big.NewRat(3, 1), big.NewRat(1, 2)
	gamma, truth := new(big.Rat).Inv(e), new(big.Rat).Quo(e, big.NewRat(4, 1))
	power := func(x *big.Rat, k int) *big.Rat {
		y := big.NewRat(1, 1)
		for range k {
			y.Mul(y, x)
		}
		return y
	}
	bernoulli := func(n, k int, p *big.Rat) *big.Rat {
		mass := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
		mass.Mul(mass, power(p, k))
		return mass.Mul(mass, power(new(big.Rat).Sub(big.NewRat(1, 1), p), n-k))
	}
	var p, q [n + 1][n + 1]*big.Rat
	for i := range p {
		for j := range p[i] {
			p[i][j], q[i][j] = new(big.Rat), new(big.Rat)
		}
	}
	for c := range n {
		for a := 0; a <= c; a++ {
			mass := new(big.Rat).Mul(bernoulli(n-1, c, gamma), bernoulli(c, a, half))
			for delta := range 2 {
				m := new(big.Rat).Mul(mass, bernoulli(1, delta, truth))
				p[a+delta][c-a+1-delta].Add(p[a+delta][c-a+1-delta], m)
				q[a+1-delta][c-a+delta].Add(q[a+1-delta][c-a+delta], m)
			}
		}
	}
	for _, order := range []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 2), big.NewRat(5, 2), big.NewRat(29, 10)} {
		forward, backward := new(big.Rat), new(big.Rat)
		for i := range p {
			for j := range p[i] {
				if d := new(big.Rat).Sub(p[i][j], new(big.Rat).Mul(order, q[i][j])); d.Sign() > 0 {
					forward.Add(forward, d)
				}
				if d := new(big.Rat).Sub(q[i][j], new(big.Rat).Mul(order, p[i][j])); d.Sign() > 0 {
					backward.Add(backward, d)
				}
			}
		}
		if want := exactClone(e, order, n); forward.Cmp(want) != 0 || backward.Cmp(want) != 0 {
			t.Errorf("q=%v: got %v and %v, want %v", order, forward, backward, want)
		}
		want, _ := forward.Float64()
		if got := mustDelta(t, mustClone(t, logUp(e)), n, logDown(order)); got < want || got > want*(1+1e-12) {
			t.Errorf("q=%v: Delta %v, want %v", order, got, want)
		}
	}
}

// At large n, against the literal sum over both counters: others tick a counter with
// probability e^{-ε}, the victim always ticks one. That sum is good to about 10^-8.
func TestCloneMatchesTwoCounters(t *testing.T) {
	for _, c := range []struct {
		n                       int
		epsilon, epsilonCentral float64
	}{{1000, 0.5, 0.05}, {10_000, 3, 0.2}, {1_000_000, 1, 0.003}, {1_000_000, 10, 1}} {
		want := twoCounters(c.n, c.epsilon, 1/(math.Exp(c.epsilon)+1), math.Exp(-c.epsilon)/2, c.epsilonCentral)
		got := mustDelta(t, mustClone(t, c.epsilon), c.n, c.epsilonCentral)
		if math.Abs(got/want-1) > 1e-7 {
			t.Errorf("%+v: got %v, want %v (off by %.2g)", c, got, want, got/want-1)
		}
	}
}

// Random randomizers with three outputs, exactly ε-LDP: every data set, every pair of inputs
// of the victim and every output of the shuffler stays below the bound.
func TestCloneCoversRandomRandomizers(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	closest := 0.0
	for range 25 {
		r, e := randomPatterns(rng, 3, 2+rng.IntN(2))
		if e.Cmp(big.NewRat(1, 1)) == 0 {
			continue
		}
		for _, n := range []int{2, 3, 5} {
			for _, share := range []*big.Rat{big.NewRat(0, 1), big.NewRat(1, 5), big.NewRat(3, 5), big.NewRat(9, 10)} {
				q := between(e, share)
				exact, clone := r.worst(t, n, q), exactClone(e, q, n)
				if exact.Cmp(clone) > 0 {
					t.Errorf("%v n=%d q=%v: exact %s above the clone bound %s", r.patterns, n, q, exact.FloatString(12), clone.FloatString(12))
				}
				want, _ := exact.Float64()
				got := mustDelta(t, mustClone(t, logUp(e)), n, logDown(q))
				if got < want {
					t.Errorf("%v n=%d q=%v: Delta %v below the exact %v", r.patterns, n, q, got, want)
				}
				closest = math.Max(closest, want/got)
			}
		}
	}
	if closest < 0.8 { // a bound that nothing comes near would pass whatever it says
		t.Errorf("the exact value reaches no more than %v of the bound", closest)
	}
}

func TestCloneCorners(t *testing.T) {
	for _, epsilon := range []float64{5e-324, 1e-310, 1e-300, 1e-3, 1, 20} {
		clients := []int{2, 5, 1000, 1_000_000}
		if epsilon == 20 && *Long {
			clients = append(clients, maxClients)
		}
		for _, n := range clients {
			checkAmplification(t, mustClone(t, epsilon), epsilon, n, []float64{5e-324, 1e-15, 1e-6, 0.999999})
		}
	}
}

func TestNewCloneErrors(t *testing.T) {
	for _, epsilon := range []float64{0, -1, 20.001, math.NaN(), math.Inf(1)} {
		want := fmt.Sprintf("privacy: epsilon: got %v, rule: must be in (0, 20]", epsilon)
		if c, err := NewClone(epsilon); c != nil || !isInvalid(err, want) {
			t.Errorf("NewClone(%v): got %v, %v, want error %q", epsilon, c, err, want)
		}
	}
}

func BenchmarkClone(b *testing.B) {
	for _, n := range []int{1000, 1_000_000, 1_000_000_000} {
		clone := mustClone(b, 1)
		b.Run(fmt.Sprintf("delta/n=%d", n), func(b *testing.B) {
			epsilonCentral := mustEpsilon(b, clone, n, 1e-6)
			for b.Loop() {
				mustDelta(b, clone, n, epsilonCentral)
			}
		})
		b.Run(fmt.Sprintf("epsilon/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				mustEpsilon(b, clone, n, 1e-6)
			}
		})
	}
}
