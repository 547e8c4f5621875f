package exact

import (
	"math"
	"math/big"
	"testing"
)

// upperExp returns a rational upper bound of e^x for 0 ≤ x ≤ 20: the Taylor
// sum to degree n plus the tail, at most x^(n+1)/(n+1)!·1/(1−x/(n+2)).
func upperExp(x float64) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	term, sum := big.NewRat(1, 1), big.NewRat(1, 1)
	const n = 160
	for k := int64(1); k <= n; k++ {
		term.Mul(term, r).Mul(term, big.NewRat(1, k))
		sum.Add(sum, term)
	}
	term.Mul(term, r).Mul(term, big.NewRat(2, n+1)) // 1/(1−x/(n+2)) ≤ 2
	return sum.Add(sum, term)
}

// lowerExp returns the Taylor sum, a rational lower bound.
func lowerExp(x float64) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	term, sum := big.NewRat(1, 1), big.NewRat(1, 1)
	for k := int64(1); k <= 160; k++ {
		term.Mul(term, r).Mul(term, big.NewRat(1, k))
		sum.Add(sum, term)
	}
	return sum
}

func TestLowerExpIsATightLowerBound(t *testing.T) {
	one := new(big.Int).Lsh(big.NewInt(1), expBits)
	for _, x := range []float64{1e-9, 0.1, math.Ln2, 1, 3.25, 10, 20} {
		got := new(big.Rat).SetFrac(LowerExp(x), one)
		upper := upperExp(x)
		if got.Cmp(upper) > 0 {
			t.Errorf("LowerExp(%g) exceeds the upper bound of e^x", x)
		}
		gap, _ := new(big.Rat).Quo(new(big.Rat).Sub(upper, got), upper).Float64()
		if gap > 0x1p-130 {
			t.Errorf("LowerExp(%g): relative gap %g, want below 2^-130", x, gap)
		}
	}
}

func TestWeightsNeverExceedTheBudgetAndLoseLittle(t *testing.T) {
	for _, eps := range []float64{1e-6, 0.1, math.Ln2, 1, 5, 12, 20} {
		limit := lowerExp(eps)
		for _, st := range [][2]int{{1, 2}, {1, 4}, {8, 16}, {64, 19130}, {64, 1 << 30}, {1000, 2001}} {
			w, err := NewWeights(eps, st[0], st[1])
			if err != nil {
				t.Errorf("ε=%g s=%d t=%d: %v", eps, st[0], st[1], err)
				continue
			}
			ratio := new(big.Rat).SetFrac(new(big.Int).SetUint64(w.High), new(big.Int).SetUint64(w.Low))
			if ratio.Cmp(limit) > 0 {
				t.Errorf("ε=%g s=%d t=%d: High/Low exceeds e^ε", eps, st[0], st[1])
			}
			r, _ := ratio.Float64()
			if lost := eps - math.Log(r); lost > 0x1p-24 {
				t.Errorf("ε=%g s=%d t=%d: the weights lose %g of ε", eps, st[0], st[1], lost)
			}
			if w.Total != uint64(st[0])*w.High+uint64(st[1]-st[0])*w.Low || w.Total >= 1<<62 {
				t.Errorf("ε=%g s=%d t=%d: total %d is wrong", eps, st[0], st[1], w.Total)
			}
		}
	}
}

func TestWeightsRefuseBadParameters(t *testing.T) {
	for _, c := range []struct {
		eps  float64
		s, t int
	}{{0, 1, 2}, {-1, 1, 2}, {math.NaN(), 1, 2}, {20.5, 1, 2}, {math.Inf(1), 1, 2}, {1, 0, 2}, {1, 2, 2}} {
		if w, err := NewWeights(c.eps, c.s, c.t); err == nil {
			t.Errorf("NewWeights(%g, %d, %d) = %+v, want an error", c.eps, c.s, c.t, w)
		}
	}
}

// Weights that need more bits than there are would lose too much to rounding. They are
// refused.
func TestWeightsRefuseTooManySlots(t *testing.T) {
	for _, c := range []struct {
		eps  float64
		s, t int
	}{{0.1, 1, 1 << 40}, {1, 1, 1 << 40}, {20, 1 << 40, 1 << 41}} {
		if w, err := NewWeights(c.eps, c.s, c.t); err == nil {
			t.Errorf("NewWeights(%g, %d, %d) = %+v, want an error", c.eps, c.s, c.t, w)
		}
	}
	if _, err := NewWeights(0.1, 1, 1<<31); err != nil {
		t.Errorf("the most slots of a mechanism: %v", err)
	}
}
