package baseline

import (
	"encoding/binary"
	"github.com/hushgrad/hushgrad/internal/bigref"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/internal/table"
)

// law gives the exact probability of magnitude m, times T^3.
type law struct {
	weights []*big.Int
	total   *big.Int
}

func newLaw(eta float64) law {
	return law{weights: magnitudes(eta), total: new(big.Int).Lsh(big.NewInt(1), table.TotalBits)}
}

func (l law) at(m int) *big.Int {
	p := new(big.Int).Set(l.weights[m%block])
	for b := range 2 {
		if b < m/block {
			p.Mul(p, l.weights[escape])
		} else {
			p.Mul(p, l.total)
		}
	}
	return p
}

// exceeds is true when a > b·e.
func exceeds(a, b *big.Int, e *big.Rat) bool {
	left, right := new(big.Int).Mul(a, e.Denom()), new(big.Int).Mul(b, e.Num())
	return left.Cmp(right) > 0
}

// lower is a lower bound of e^x with a small denominator.
func lower(x float64) *big.Rat {
	e := bigref.LowerExp(x)
	one := new(big.Int).Lsh(big.NewInt(1), 200)
	n := new(big.Int).Mul(e.Num(), one)
	return new(big.Rat).SetFrac(n.Quo(n, e.Denom()), one)
}

// All neighbours of the first two blocks and the step to the third, in which nothing is new,
// by exact arithmetic, with a bound on e^η of its own.
func TestNeighboursAreWithinTheFactor(t *testing.T) {
	for _, eta := range []float64{1. / 256, 0.0039, 0.1 / 26, 0.0025, math.Nextafter(1./256, 0), 0.5 / 128} {
		l, e := newLaw(eta), lower(eta)
		sum := new(big.Int)
		for _, w := range l.weights {
			if w.Sign() <= 0 {
				t.Fatalf("η=%g: a weight of %d", eta, w)
			}
			sum.Add(sum, w)
		}
		if sum.Cmp(l.total) != 0 {
			t.Errorf("η=%g: the weights add up to %d", eta, sum)
		}
		b := l.at(0)
		for m := range 2 * block {
			a := b
			b = l.at(m + 1)
			if exceeds(a, b, e) || exceeds(b, a, e) {
				ratio, _ := new(big.Rat).SetFrac(a, b).Float64()
				t.Errorf("η=%g: P[%d]/P[%d] = %v, log above η", eta, m, m+1, math.Log(ratio))
			}
		}
	}
}

// Nothing is given away: the law is the geometric one within 2^-30 of each probability, in
// the second block 2^-16.
func TestLawIsGeometric(t *testing.T) {
	for _, eta := range []float64{1. / 256, 0.0025} {
		l := newLaw(eta)
		cube := new(big.Int).Exp(l.total, big.NewInt(3), nil)
		for _, m := range []int{0, 1, 100, block - 1, block, block + 50} {
			got, _ := new(big.Rat).SetFrac(l.at(m), cube).Float64()
			want := -math.Expm1(-eta) * math.Exp(-eta*float64(m))
			limit := 0x1p-30
			if m >= block {
				limit = 0x1p-16
			}
			if math.Abs(got/want-1) > limit {
				t.Errorf("η=%g: P[%d] is %g of the geometric one", eta, m, got/want)
			}
		}
	}
}

// ε-LDP of a coordinate by exhaustion: the integers B and −B are as far apart as any two
// clipped gradients, and their reports' probabilities within e^ε for every outcome of the
// first two blocks. Several coordinates multiply factors of neighbours, which are bounded
// above.
func TestLocalPrivacyByEnumeration(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 5} {
		b := int(math.Ceil(resolution / 2 * epsilon))
		eta := epsilon / float64(2*b)
		if math.FMA(eta, float64(2*b), -epsilon) > 0 {
			eta = math.Nextafter(eta, 0)
		}
		l, e := newLaw(eta), lower(epsilon)
		noise := func(k int) *big.Int {
			if k < 0 {
				k = -k - 1
			}
			return l.at(k)
		}
		worst := 0.
		for r := -block - 300; r <= block+300; r++ {
			p, q := noise(r-b), noise(r+b)
			if exceeds(p, q, e) || exceeds(q, p, e) {
				t.Fatalf("ε=%g: outcome %d: ratio above e^ε", epsilon, r)
			}
			ratio, _ := new(big.Rat).SetFrac(p, q).Float64()
			worst = max(worst, math.Log(ratio))
		}
		if worst < epsilon*(1-1e-9) {
			t.Errorf("ε=%g: the worst outcome spends %g", epsilon, worst)
		}
	}
}

// halves is a table with the weights 1/2 for escape and 1/2 for 5.
func halves(t *testing.T) *table.Table {
	t.Helper()
	half := new(big.Int).Lsh(big.NewInt(1), table.TotalBits-1)
	weights := make([]*big.Int, table.Len)
	for m := range weights {
		weights[m] = new(big.Int)
	}
	weights[5], weights[escape] = half, half
	noise, err := table.New(weights)
	if err != nil {
		t.Fatal(err)
	}
	return noise
}

// With halves the noise is 5 + 4095·k or the reflected −6 − 4095·k, with probabilities
// 2^−(k+2). Counts of k = 0, 1, 2 of either sign in 20 000 draws within 5.5 standard
// deviations: 6·4e-8.
func TestEscapesAddBlocks(t *testing.T) {
	noise := halves(t)
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	const draws = 20_000
	counts := map[int64]float64{}
	for range draws {
		v := laplacePerturber{noise: noise}.draw(uint32(rng.Uint64()), rng)
		if m := max(v, -v-1); m%block != 5 {
			t.Fatalf("a draw of %d", v)
		}
		counts[v]++
	}
	for v, p := range map[int64]float64{5: 1. / 4, -6: 1. / 4, 5 + block: 1. / 8, -6 - block: 1. / 8, 5 + 2*block: 1. / 16, -6 - 2*block: 1. / 16} {
		if z := (counts[v] - draws*p) / math.Sqrt(draws*p*(1-p)); math.Abs(z) > 5.5 {
			t.Errorf("%v draws of %d, want %g (%.1f)", counts[v], v, draws*p, z)
		}
	}
}

// Noise beyond 8 blocks does not fit 16 bits: it is clamped, and does not wrap around.
func TestOutcomesAreClamped(t *testing.T) {
	p := laplacePerturber{noise: halves(t), norm: 1, perStep: 1}
	report := p.Perturb(nil, make([]float64, 8000), 1, rand.New(rand.NewChaCha8([32]byte{8})))
	ends := map[int64]int{}
	for j := range 8000 {
		v := int64(int16(binary.LittleEndian.Uint16(report[2*j:])))
		if v == math.MinInt16 || v == math.MaxInt16 {
			ends[v]++
		} else if max(v, -v-1)%block != 5 {
			t.Fatalf("an outcome of %d", v)
		}
	}
	if len(ends) != 2 { // a chance of 2^-9 each, missed with probability 1e-6
		t.Errorf("clamped outcomes: %v", ends)
	}
}

// Over all starts that matter, the integers add up to the coordinates exactly, are next to
// them, and never exceed the norm together.
func TestDitherIsExact(t *testing.T) {
	const parts, norm = 64, 5
	grad := []float64{1.25, -0.5, 0, 2.015625, -0.984375, 0.25} // Σ|x| = norm, multiples of 1/64
	sum := make([]float64, len(grad))
	for start := range uint64(parts) {
		d := newDither(norm, rand.New(rand.NewChaCha8([32]byte{})))
		d.sum = start << (fractionBits - 6)
		total := int64(0)
		for j, x := range grad {
			k := d.round(x * (1 << fractionBits))
			if math.Abs(float64(k)-x) >= 1 || float64(k)*x < 0 {
				t.Errorf("start %d: %g becomes %d", start, x, k)
			}
			total += max(k, -k)
			sum[j] += float64(k)
		}
		if total > norm {
			t.Errorf("start %d: the norm is %d, must be at most %d", start, total, norm)
		}
	}
	for j, x := range grad {
		if sum[j] != parts*x {
			t.Errorf("coordinate %d: %g on average, want %g", j, sum[j]/parts, x)
		}
	}
}

// A gradient that is too long, as by rounding, is cut off.
func TestDitherNeverExceedsTheNorm(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for range 1000 {
		const norm = 3
		d := newDither(norm, rng)
		total := int64(0)
		for range 20 {
			k := d.round((rng.Float64() - 0.5) * (1 << fractionBits))
			total += max(k, -k)
		}
		if total > norm {
			t.Fatalf("the norm is %d, must be at most %d", total, norm)
		}
	}
}

// Every start occurs: the start is uniform. Ten bins of 10 000 draws, 5.5 standard deviations.
func TestStartIsUniform(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	var counts [10]float64
	for range 10_000 {
		d := newDither(1, rng)
		counts[d.sum*10>>fractionBits]++
	}
	for i, c := range counts {
		if z := (c - 1000) / math.Sqrt(900); math.Abs(z) > 5.5 {
			t.Errorf("part %d: %v of 10000", i, c)
		}
	}
}
