package bbgn

import (
	"math"
	"math/big"
	"testing"
)

// histogram counts the messages of each value: what the shuffler shows.
type histogram [5]int

// viewLaw is the law of the histogram for clients with residues y, found by
// enumerating all their shares.
func viewLaw(y []int, m, q int) map[histogram]float64 {
	law := map[histogram]float64{{}: 1}
	for _, v := range y {
		client := map[histogram]float64{}
		var deal func(h histogram, left, rest int)
		deal = func(h histogram, left, rest int) {
			if left == 1 {
				h[rest]++
				client[h] += math.Pow(float64(q), float64(1-m))
				return
			}
			for s := range q {
				g := h
				g[s]++
				deal(g, left-1, (rest+q-s)%q)
			}
		}
		deal(histogram{}, m, v)
		next := map[histogram]float64{}
		for a, pa := range law {
			for b, pb := range client {
				sum := a
				for i := range sum {
					sum[i] += b[i]
				}
				next[sum] += pa * pb
			}
		}
		law = next
	}
	return law
}

// uniformLaw is the law of the histogram of a uniform sequence of the given sum.
func uniformLaw(length, q, sum int) map[histogram]float64 {
	law := map[histogram]float64{}
	var fill func(h histogram, value, left, total int, logProb float64)
	fill = func(h histogram, value, left, total int, logProb float64) {
		if value == q-1 {
			h[value] = left
			lg, _ := math.Lgamma(float64(left) + 1)
			if (total+value*left)%q == sum {
				law[h] = math.Exp(logProb - lg)
			}
			return
		}
		for k := 0; k <= left; k++ {
			h[value] = k
			lg, _ := math.Lgamma(float64(k) + 1)
			fill(h, value+1, left-k, total+value*k, logProb-lg)
		}
	}
	all, _ := math.Lgamma(float64(length) + 1)
	fill(histogram{}, 0, length, 0, all-float64(length-1)*math.Log(float64(q)))
	return law
}

func divergences(p, uniform map[histogram]float64) (chiSquare, totalVariation float64) {
	for h, u := range uniform {
		chiSquare += p[h] * p[h] / u
		totalVariation += math.Abs(p[h]-u) / 2
	}
	return chiSquare - 1, totalVariation
}

// The recurrence is the chi-square divergence itself when all y are equal, and a
// bound for every other y.
func TestLog2ChiSquareEqualsEnumeration(t *testing.T) {
	for _, c := range []struct {
		n, m, q int
		want    float64 // computed independently in Python by the same enumeration; 0: not listed
	}{
		{2, 1, 3, 0}, {2, 3, 2, 0}, {2, 3, 5, 0}, {2, 5, 3, 0}, {3, 2, 4, 0}, {3, 3, 3, 0.221429}, {3, 3, 5, 0},
		{3, 4, 4, 0}, {4, 3, 2, 0.092208}, {4, 3, 3, 0}, {5, 3, 2, 0}, {6, 3, 2, 0}, {4, 2, 2, 0},
	} {
		bound := math.Exp2(Log2ChiSquare(c.n, c.m, uint64(c.q)))
		exact, _ := divergences(viewLaw(make([]int, c.n), c.m, c.q), uniformLaw(c.n*c.m, c.q, 0))
		if !(bound >= exact*(1-1e-12)) || !(bound <= exact*(1+1e-10)) { // 1e-12 is the rounding of the enumeration
			t.Errorf("n=%d m=%d q=%d: got %.12g, the enumeration gives %.12g", c.n, c.m, c.q, bound, exact)
		}
		if c.want != 0 && math.Abs(bound-c.want) > 5e-7 {
			t.Errorf("n=%d m=%d q=%d: got %.6f, want %.6f", c.n, c.m, c.q, bound, c.want)
		}
	}
}

func TestBoundHoldsForAllInputs(t *testing.T) {
	for _, c := range []struct{ n, m, q int }{{2, 3, 4}, {3, 3, 3}, {4, 3, 2}, {3, 4, 3}} {
		bound := math.Exp2(Log2ChiSquare(c.n, c.m, uint64(c.q)))
		uniform := make([]map[histogram]float64, c.q)
		for s := range uniform {
			uniform[s] = uniformLaw(c.n*c.m, c.q, s)
		}
		below := false
		for code := range int(math.Pow(float64(c.q), float64(c.n))) {
			y, sum := make([]int, c.n), 0
			for i := range y {
				y[i] = code % c.q
				sum += y[i]
				code /= c.q
			}
			chi, tv := divergences(viewLaw(y, c.m, c.q), uniform[sum%c.q])
			if chi > bound*(1+1e-12) || tv > math.Sqrt(bound)/2 {
				t.Errorf("n=%d m=%d q=%d y=%v: chi-square %v, total variation %v, bound %v", c.n, c.m, c.q, y, chi, tv, bound)
			}
			below = below || chi < 0.99*bound
		}
		if !below {
			t.Errorf("n=%d m=%d q=%d: the divergence does not depend on y", c.n, c.m, c.q)
		}
	}
}

// exactLog2ChiSquare is the recurrence in 400-bit arithmetic.
func exactLog2ChiSquare(n, m int, q uint64) float64 {
	number := func() *big.Float { return new(big.Float).SetPrec(400) }
	factorial := []*big.Float{number().SetInt64(1)}
	for k := 1; k <= n*m; k++ {
		factorial = append(factorial, number().Mul(factorial[k-1], number().SetInt64(int64(k))))
	}
	q1 := number().SetUint64(q)
	q1.Add(q1, number().SetInt64(1))
	weight := make([]*big.Float, n+1) // (mj)!/(j!)²
	for j := range weight {
		weight[j] = number().Quo(factorial[m*j], number().Mul(factorial[j], factorial[j]))
	}
	mean := make([]*big.Float, n+1)
	chiSquare := number()
	for k := 1; k <= n; k++ {
		chiSquare.SetInt64(0)
		for j := 1; j < k; j++ {
			c := number().Mul(q1, number().Quo(number().SetInt64(int64(k-j)), number().SetInt64(int64(k))))
			c.Sub(c, number().SetInt64(1))
			c.Mul(c, weight[j]).Mul(c, weight[k-j]).Quo(c, weight[k])
			chiSquare.Add(chiSquare, c.Mul(c, mean[j]))
		}
		mean[k] = number().Add(chiSquare, number().SetInt64(1))
	}
	fraction := number()
	exponent := chiSquare.MantExp(fraction)
	f, _ := fraction.Float64()
	return math.Log2(f) + float64(exponent)
}

// Cases: everyday ones; E_j beyond every float64 on the way (n = 260, m = 8); the
// final bound beyond it (n = 60, m = 2); far below it (m = 300); q below n.
func TestLog2ChiSquareIsRoundedUp(t *testing.T) {
	for _, c := range []struct {
		n, m int
		q    uint64
	}{
		{2, 27, 61}, {3, 9, 1 << 20}, {10, 15, 66841}, {17, 12, 1 << 40}, {33, 12, 1 << 63}, {60, 9, 1<<63 - 1}, {60, 2, 1 << 63},
		{60, 3, 5}, {100, 10, 156841}, {40, 300, 1 << 50}, {260, 8, 1 << 63},
	} {
		got, want := Log2ChiSquare(c.n, c.m, c.q), exactLog2ChiSquare(c.n, c.m, c.q)
		// The result itself is rounded: 2^-50 of its value.
		if got < want-math.Abs(want)*0x1p-50 || got > want+1e-6 {
			t.Errorf("n=%d m=%d q=%d: got %.12g, want at least %.12g and at most 1e-6 more", c.n, c.m, c.q, got, want)
		}
	}
}

func TestLog2ChiSquareLimits(t *testing.T) {
	for _, c := range []struct {
		n, m int
		q    uint64
		want float64
	}{
		{1, 1, 10, math.Inf(-1)}, {1, 5, 1 << 63, math.Inf(-1)}, {5, 3, 1, math.Inf(-1)},
		{0, 3, 7, math.Inf(1)}, {-1, 3, 7, math.Inf(1)}, {3, 0, 7, math.Inf(1)}, {3, 3, 0, math.Inf(1)},
	} {
		if got := Log2ChiSquare(c.n, c.m, c.q); got != c.want {
			t.Errorf("n=%d m=%d q=%d: got %v, want %v", c.n, c.m, c.q, got, c.want)
		}
	}
	// One message each: nothing is mixed, C = n, and E[q^{C−1}] = q^{n−1}.
	if got := Log2ChiSquare(30, 1, 1<<63); math.Abs(got-29*63) > 1e-6 {
		t.Errorf("one message: got %v, want %v", got, 29*63)
	}
}

func BenchmarkLog2ChiSquare(b *testing.B) {
	for b.Loop() {
		Log2ChiSquare(2000, 14, 1<<63)
	}
}
