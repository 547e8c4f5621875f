package hetero

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/sample"
)

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// leakage is the largest ln P[M(x) = y]/P[M(x') = y] per client, as a multiple of η:
// the noise has P[k] ∝ e^−η|k|, so that an output y counts |y−s'| − |y−s|.
type leakage map[int]int64

func (l leakage) compare(client int, s, other []int64, outputs []int64) {
	total := int64(0)
	for j := range s { // the noises of the sums are independent: the worst outputs add up
		worst := int64(0)
		for _, y := range outputs {
			worst = max(worst, abs(y-other[j])-abs(y-s[j]))
		}
		total += worst
	}
	l[client] = max(l[client], total)
}

func abs(k int64) int64 { return max(k, -k) }

// require compares with ε in exact rational numbers.
func (l leakage) require(t *testing.T, what string, n *Noise) {
	t.Helper()
	actual := n.FreePrivacy()
	for i, e := range n.eps {
		if math.IsInf(n.eta, 1) {
			if l[i] > 0 && !math.IsInf(e, 1) {
				t.Errorf("%s: no noise for client %d", what, i)
			}
			continue
		}
		spent := rat(n.eta)
		spent.Mul(spent, new(big.Rat).SetInt64(l[i]))
		if !math.IsInf(e, 1) && spent.Cmp(rat(e)) > 0 || actual[i] > e {
			t.Errorf("%s: client %d asked for %g and got %s, reported as %g", what, i, e, spent.FloatString(20), actual[i])
		}
		if spent.Cmp(rat(actual[i])) > 0 {
			t.Errorf("%s: client %d got %s, reported as %g", what, i, spent.FloatString(20), actual[i])
		}
		if loose, _ := spent.Float64(); actual[i] > loose*(1+1e-12) {
			t.Errorf("%s: client %d got %g, reported as %g", what, i, loose, actual[i])
		}
	}
}

var demandSets = [][]float64{
	{1}, {math.Inf(1)}, {0.3, 0.3}, {0.1, 2, math.Inf(1)}, {1e-9, 1e9, 1}, {math.Inf(1), math.Inf(1), 1e-6}, {0.7, 1.1, 0.9},
}

// Every data set, every neighbour and every output on a coarse grid; on the fine
// one, the outputs at which the sums are, between which and beyond which the log
// ratio has no extremes.
func TestEveryClientGetsTheOwnEpsilon(t *testing.T) {
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
				forEachPair(len(eps), len(values), func(client int, a, b []int) {
					s, other := []int64{m.sum(pick(values, a))}, []int64{m.sum(pick(values, b))}
					leaks.compare(client, s, other, outputs(bits, s, other))
				})
				leaks.require(t, "mean of "+what, &m.Noise)
				h := &Histogram{newNoise(eps, w, 2, bits), 3}
				leaks = leakage{}
				forEachPair(len(eps), 3, func(client int, a, b []int) {
					s, other := h.sums(a), h.sums(b)
					leaks.compare(client, s, other, outputs(bits, s, other))
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
// client's value.
func forEachPair(n, k int, f func(client int, a, b []int)) {
	a := make([]int, n)
	for {
		for client := range n {
			b := append([]int(nil), a...)
			for v := range k {
				if b[client] = v; v != a[client] {
					f(client, a, b)
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
			return all // weights of public data on the grid of a careful client
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
			t.Errorf("ε = %v: the noise has %g times the standard deviation of the paper's noise", eps, got)
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

// expBounds returns integers around e^x·2^160.
func expBounds(x float64) (lower, upper *big.Int) {
	lower = exact.LowerExp(x)
	upper = new(big.Int).Rsh(lower, 139)
	return lower, upper.Add(upper, lower).Add(upper, big.NewInt(1))
}

var exponents = []float64{1e-9, 1e-6, 0.01, 0.5, 1, 3, 7.7, 15}

// A bit that flips with probability p reveals no more than ln((1−p)/p).
func TestLocalFlipsProtect(t *testing.T) {
	for _, categories := range []int{2, 5} {
		for _, e := range exponents {
			l, err := NewLocal([]float64{e}, Weights{1}, categories)
			if err != nil {
				t.Fatal(err)
			}
			flip := new(big.Int).SetUint64(uint64(l.flips[0]))
			stay := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 64), flip)
			lower, _ := expBounds(e / 2)
			// stay/flip ≤ e^x
			if stay.Lsh(stay, 160).Cmp(flip.Mul(flip, lower)) > 0 {
				t.Errorf("ε = %g, %d categories: a flip of probability %g is too rare", e, categories, l.flips[0].probability())
			}
			if got, want := l.flips[0].probability(), 1/(1+math.Exp(e/2)); got > want*(1+1e-11) {
				t.Errorf("ε = %g, %d categories: flips with probability %g, want %g", e, categories, got, want)
			}
		}
	}
}

// A number reveals no more than its units times the decay of its noise.
func TestLocalNoiseProtects(t *testing.T) {
	l, err := NewLocal(exponents, proportional(exponents, func(float64) float64 { return 1 }), 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range l.noises {
		eta := new(big.Rat).Mul(rat(n.eta), new(big.Rat).SetInt64(n.units[0]))
		if got, _ := eta.Float64(); eta.Cmp(rat(exponents[i])) > 0 || got < exponents[i]*(1-1e-11) {
			t.Errorf("ε = %g: a report reveals %s", exponents[i], eta.FloatString(20))
		}
	}
}

// A client in the sample with probability π gets ln(1 + π·(e^t − 1)).
func TestSamplingChancesProtect(t *testing.T) {
	one := new(big.Int).Lsh(big.NewInt(1), 160)
	for _, threshold := range exponents {
		s, err := NewSampling(exponents, threshold, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range exponents {
			if s.always[i] != (e >= threshold) {
				t.Errorf("ε = %g, threshold %g: always in the sample: %t", e, threshold, s.always[i])
			}
			if s.always[i] {
				continue
			}
			lower, _ := expBounds(e)
			_, upper := expBounds(threshold)
			gain := new(big.Int).SetUint64(uint64(s.chances[i]))
			gain.Mul(gain, upper.Sub(upper, one)).Rsh(gain, 64)
			if gain.Cmp(lower.Sub(lower, one)) > 0 {
				t.Errorf("ε = %g, threshold %g: sampled with probability %g, too often", e, threshold, s.chances[i].probability())
			}
			if got, want := s.chances[i].probability(), math.Expm1(e)/math.Expm1(threshold); got < want*(1-1e-11)-0x1p-63 {
				t.Errorf("ε = %g, threshold %g: sampled with probability %g, want %g", e, threshold, got, want)
			}
		}
		if eta := new(big.Rat).Mul(rat(s.noise.eta), new(big.Rat).SetInt64(s.noise.units[0])); eta.Cmp(rat(threshold)) > 0 {
			t.Errorf("threshold %g: the sample gets ε = %s", threshold, eta.FloatString(20))
		}
	}
}
