package hetero

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/internal/sample"
)

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// leakage is the largest ln P[M(x) = y]/P[M(x') = y] per user, as a multiple of η:
// the noise has P[k] ∝ e^−η|k|, so that an output y counts |y−s'| − |y−s|.
type leakage map[int]int64

func (l leakage) compare(user int, s, other []int64, outputs []int64) {
	total := int64(0)
	for j := range s { // the noises of the sums are independent: the worst outputs add up
		worst := int64(0)
		for _, y := range outputs {
			worst = max(worst, abs(y-other[j])-abs(y-s[j]))
		}
		total += worst
	}
	l[user] = max(l[user], total)
}

func abs(k int64) int64 { return max(k, -k) }

// require compares with ε in exact rational numbers.
func (l leakage) require(t *testing.T, what string, n *Noise) {
	t.Helper()
	actual := n.FreePrivacy()
	for i, e := range n.eps {
		if math.IsInf(n.eta, 1) {
			if l[i] > 0 && !math.IsInf(e, 1) {
				t.Errorf("%s: no noise for user %d", what, i)
			}
			continue
		}
		spent := rat(n.eta)
		spent.Mul(spent, new(big.Rat).SetInt64(l[i]))
		if !math.IsInf(e, 1) && spent.Cmp(rat(e)) > 0 || actual[i] > e {
			t.Errorf("%s: user %d asked for %g and got %s, reported as %g", what, i, e, spent.FloatString(20), actual[i])
		}
		if spent.Cmp(rat(actual[i])) > 0 {
			t.Errorf("%s: user %d got %s, reported as %g", what, i, spent.FloatString(20), actual[i])
		}
		if loose, _ := spent.Float64(); actual[i] > loose*(1+1e-12) {
			t.Errorf("%s: user %d got %g, reported as %g", what, i, loose, actual[i])
		}
	}
}

var demandSets = [][]float64{
	{1}, {math.Inf(1)}, {0.3, 0.3}, {0.1, 2, math.Inf(1)}, {1e-9, 1e9, 1}, {math.Inf(1), math.Inf(1), 1e-6}, {0.7, 1.1, 0.9},
}

// Every data set, every neighbour and every output on a coarse grid; on the fine
// one, the outputs at which the sums are, between which and beyond which the log
// ratio has no extremes.
func TestEveryUserGetsTheOwnEpsilon(t *testing.T) {
	values := []float64{0, 0.2, 0.5, 1}
	for _, eps := range demandSets {
		for name, w := range map[string]Weights{
			"uniform":    proportional(eps, func(float64) float64 { return 1 }),
			"saturating": proportional(eps, func(e float64) float64 { return -math.Expm1(-e) }),
			"turbo":      turbo(eps, ascending(eps), 1),
		} {
			for _, bits := range []int{3, defaultNoiseBits} {
				what := fmt.Sprintf("%v, %s, %d bits", eps, name, bits)
				m := &Mean{newNoise(eps, w, 1, bits)}
				leaks := leakage{}
				forEachPair(len(eps), len(values), func(user int, a, b []int) {
					s, other := []int64{m.sum(pick(values, a))}, []int64{m.sum(pick(values, b))}
					leaks.compare(user, s, other, outputs(bits, s, other))
				})
				leaks.require(t, "mean of "+what, &m.Noise)
				h := &Histogram{newNoise(eps, w, 2, bits), 3}
				leaks = leakage{}
				forEachPair(len(eps), 3, func(user int, a, b []int) {
					s, other := h.sums(a), h.sums(b)
					leaks.compare(user, s, other, outputs(bits, s, other))
				})
				leaks.require(t, "histogram of "+what, &h.Noise)
			}
		}
	}
}

func pick(values []float64, index []int) []float64 {
	x := make([]float64, len(index))
	for i, k := range index {
		x[i] = values[k]
	}
	return x
}

// forEachPair calls f for all data sets a, b over k values that differ in one
// user's value.
func forEachPair(n, k int, f func(user int, a, b []int)) {
	a := make([]int, n)
	for {
		for user := range n {
			b := append([]int(nil), a...)
			for v := range k {
				if b[user] = v; v != a[user] {
					f(user, a, b)
				}
			}
		}
		i := 0
		for ; i < n; i++ {
			if a[i]++; a[i] < k {
				break
			}
			a[i] = 0
		}
		if i == n {
			return
		}
	}
}

func outputs(bits int, s, other []int64) (all []int64) {
	for j := range s {
		all = append(all, s[j], other[j])
	}
	if lo, hi := all[0], all[0]; bits < 10 {
		for _, y := range all {
			lo, hi = min(lo, y), max(hi, y)
		}
		if hi-lo > 2000 {
			return all // weights of public data on the grid of a careful user
		}
		for y := lo - 20; y <= hi+20; y++ {
			all = append(all, y)
		}
	}
	return all
}

func TestNoiseIsCalibratedTightly(t *testing.T) {
	for _, eps := range demandSets {
		w := proportional(eps, func(e float64) float64 { return -math.Expm1(-e) })
		n := newNoise(eps, w, 1, defaultNoiseBits)
		if v := w.noiseScale(eps); v == 0 {
			if n.StdDev() != 0 {
				t.Errorf("ε = %v: standard deviation %g without need", eps, n.StdDev())
			}
		} else if got := n.StdDev() / (math.Sqrt2 * v); got > 1+1e-9 || got < 0.99 {
			// Below 1 by no more than the rounding of weights to the grid; 1/1000 for ε = 1e−9.
			t.Errorf("ε = %v: standard deviation %g times that of the paper's noise", eps, got)
		}
		if n.eta < sample.MinEta {
			t.Errorf("ε = %v: η = %g is below what can be drawn", eps, n.eta)
		}
		for i, x := range n.Weights() {
			if math.Abs(x-w[i]) > 1e-3*w[i] {
				t.Errorf("ε = %v: weight %d is %g, want %g", eps, i, x, w[i])
			}
		}
	}
}
