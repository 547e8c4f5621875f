package ternarize

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The sample is a step function of the start: it changes only where a point
// start + k·period meets a border of the cumulated weights. Enumerating the
// intervals between those starts gives every inclusion probability exactly.
func TestSamplingIsExactlyUnbiased(t *testing.T) {
	for name, c := range map[string]struct {
		sparsity int
		scale    float64
		grad     []float64
	}{
		"inside both clips": {3, 1, []float64{0.5, -0.25, 0, 0.125, -0.75}},
		"capped at scale":   {3, 0.5, []float64{5, -0.125, 0.25, -9, 0.0625}},
		"L1 clip":           {2, 1, []float64{0.75, -0.75, 1, 0.5, -1, 0.25}},
		"both clips":        {1, 0.25, []float64{1, -1, 1, 0.125}},
		"full":              {4, 1, []float64{1, -1, 1, -1}},
		"zero":              {2, 1, []float64{0, 0, 0}},
		"one":               {1, 2, []float64{-1.5}},
		"odd fractions":     {2, 0.7, []float64{0.3, -0.11, 0.456, 0.7, -0.69, 0.001}},
	} {
		s, err := NewSampler(len(c.grad), c.sparsity, c.scale)
		if err != nil {
			t.Fatal(err)
		}
		period, err := weigh(s, c.grad)
		if err != nil {
			t.Fatal(err)
		}
		weights := weightsOf(s, c.grad)
		mean := make([]*big.Rat, len(c.grad))
		for j := range mean {
			mean[j] = new(big.Rat)
		}
		for _, step := range intervals(weights, period) {
			x := drawAt(s, c.grad, step[0], period)
			if err := x.Validate(len(c.grad), c.sparsity); err != nil {
				t.Fatalf("%s: start %d: %v", name, step[0], err)
			}
			share := new(big.Rat).SetFrac(new(big.Int).SetUint64(step[1]-step[0]), new(big.Int).SetUint64(period))
			for i, j := range x.Index {
				if int(j) >= len(c.grad) {
					continue
				}
				if x.Sign[i] > 0 {
					mean[j].Add(mean[j], share)
				} else {
					mean[j].Sub(mean[j], share)
				}
			}
		}
		for j, want := range clip(c.grad, c.sparsity, c.scale) {
			exact := new(big.Rat).SetFrac(new(big.Int).SetUint64(weights[j]), new(big.Int).SetUint64(period))
			if c.grad[j] < 0 {
				exact.Neg(exact)
			}
			if mean[j].Cmp(exact) != 0 {
				t.Errorf("%s: E[x_%d] = %v, want the weight %v", name, j, mean[j], exact)
			}
			// The weights are rounded down to multiples of 2^-52 (here), and so is
			// their common factor.
			if got, _ := mean[j].Float64(); math.Abs(got-want) > 0x1p-48 {
				t.Errorf("%s: E[x_%d] = %g, want clip(g)/scale = %g", name, j, got, want)
			}
		}
	}
}

// weightsOf returns the weight of each coordinate.
func weightsOf(s *Sampler, grad []float64) []uint64 {
	weights := make([]uint64, len(grad))
	for j, g := range grad {
		weights[j] = s.rule.weight(g)
	}
	return weights
}

// intervals returns the half-open intervals of starts on which the sample is
// constant.
func intervals(weights []uint64, period uint64) [][2]uint64 {
	borders := []uint64{0, period}
	var sum uint64
	for _, w := range weights {
		sum += w
		borders = append(borders, sum%period)
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	var out [][2]uint64
	for i := 1; i < len(borders); i++ {
		out = append(out, [2]uint64{borders[i-1], borders[i]})
	}
	return out
}

// clip is the definition: cap at scale, then shrink to an L1 norm of s·scale.
// In units of scale.
func clip(grad []float64, sparsity int, scale float64) []float64 {
	out := make([]float64, len(grad))
	sum := 0.0
	for j, g := range grad {
		out[j] = max(-1, min(1, g/scale))
		sum += math.Abs(out[j])
	}
	if sum > float64(sparsity) {
		for j := range out {
			out[j] *= float64(sparsity) / sum
		}
	}
	return out
}

// An L1 clip where the sum of the integer weights is not a multiple of s: the
// period is the sum over s rounded up, so that never more than s points fall into
// the sum, and the probabilities stay exact multiples of 1/period.
func TestThePeriodIsRoundedUp(t *testing.T) {
	for _, c := range []struct {
		sparsity int
		grad     []float64
	}{
		{3, []float64{1, 1, -1, 1}},             // 4 units over 3
		{3, []float64{1, -1, 1, 1, 1}},          // 5 units over 3
		{7, []float64{1, 1, 1, 1, 1, 1, 1, -1}}, // 8 units over 7
		{2, []float64{1, 1, 0x1p-52}},           // an odd number of the smallest weights
	} {
		s, err := NewSampler(len(c.grad), c.sparsity, 1)
		if err != nil {
			t.Fatal(err)
		}
		period, err := weigh(s, c.grad)
		if err != nil {
			t.Fatal(err)
		}
		sum, n := uint64(0), uint64(c.sparsity)
		for _, w := range weightsOf(s, c.grad) {
			sum += w
		}
		if sum%n == 0 {
			t.Fatalf("%+v: the sum %d is a multiple of s", c, sum)
		}
		if want := sum/n + 1; period != want {
			t.Errorf("%+v: period %d, want ⌈%d/%d⌉ = %d", c, period, sum, n, want)
		}
		for _, start := range []uint64{0, 1, period / 2, period - 2, period - 1} {
			x := drawAt(s, c.grad, start, period)
			if err := x.Validate(len(c.grad), c.sparsity); err != nil {
				t.Errorf("%+v, start %d: %v", c, start, err)
			}
		}
	}
}

// Dummies are dim, dim+1, … with sign +1, whatever the gradient's signs.
func TestDummiesAreNumberedFromDimWithPlus(t *testing.T) {
	s, err := NewSampler(6, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Sample([]float64{0, -1, 0, -1, 0, 0}, rand.New(rand.NewChaCha8([32]byte{})))
	if err != nil || !slices.Equal(x.Index, []uint32{1, 3, 6, 7, 8}) || !slices.Equal(x.Sign, []int8{-1, -1, 1, 1, 1}) {
		t.Errorf("Sampler: %v %v, %v", x.Index, x.Sign, err)
	}
}

// The sample from a generator agrees with the exact probabilities. With N =
// 20 000 draws each count is binomial with variance at most N/4; 6 coordinates
// at 5.5σ fail with probability below 6·4e-8.
func TestSampleDrawsTheStartUniformly(t *testing.T) {
	const draws = 20_000
	grad := []float64{0.75, -0.75, 1, 0.5, -1, 0.25}
	s, err := NewSampler(len(grad), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{5}))
	sum := make([]float64, len(grad))
	for range draws {
		x, err := s.Sample(grad, rng)
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range x.Index {
			if int(j) < len(grad) {
				sum[j] += float64(x.Sign[i])
			}
		}
	}
	for j, want := range clip(grad, 2, 1) {
		p := math.Abs(want)
		if z := (sum[j] - draws*want) / math.Sqrt(draws*p*(1-p)); math.Abs(z) > 5.5 {
			t.Errorf("coordinate %d: sum %g, want %g (%.1fσ)", j, sum[j], draws*want, z)
		}
	}
}

func TestSampleRefusesBadGradients(t *testing.T) {
	s, err := NewSampler(3, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{}))
	for name, grad := range map[string][]float64{
		"short": {1, 2}, "long": {1, 2, 3, 4}, "NaN": {0, math.NaN(), 0}, "Inf": {0, 0, math.Inf(-1)},
	} {
		_, err := s.Sample(grad, rng)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "gradient" {
			t.Errorf("%s: error %v, want a ParamError for gradient", name, err)
		}
	}
	if _, err := s.Sample([]float64{math.MaxFloat64, -math.SmallestNonzeroFloat64, 0}, rng); err != nil {
		t.Errorf("extreme finite values: %v", err)
	}
	if x, err := s.Sample([]float64{1, 0, 1}, nil); err != nil || !slices.Equal(x.Index, []uint32{0, 2}) {
		t.Errorf("without a generator: %v, %v", x.Index, err)
	}
}

func TestNewSamplerRefuses(t *testing.T) {
	for _, c := range []struct {
		dim, sparsity int
		scale         float64
		param         string
	}{
		{0, 1, 1, "dim"}, {fl.MaxDim + 1, 1, 1, "dim"}, {5, 0, 1, "sparsity"}, {5, 6, 1, "sparsity"},
		{5, 1, 0, "scale"}, {5, 1, math.NaN(), "scale"}, {5, 1, math.Inf(1), "scale"}, {5, 1, -2, "scale"}, {5, 1, 0x0.fp-900, "scale"}, {5, 1, 0x1.1p900, "scale"}, {5, 1, math.SmallestNonzeroFloat64, "scale"}, {5, 1, math.MaxFloat64, "scale"},
	} {
		_, err := NewSampler(c.dim, c.sparsity, c.scale)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("NewSampler(%d, %d, %g): error %v, want a ParamError for %s", c.dim, c.sparsity, c.scale, err, c.param)
		}
	}
}

// At the smallest and largest scale a coordinate of 0 is not drawn, and one of the scale always.
func TestExtremeScales(t *testing.T) {
	for _, scale := range []float64{0x1p-900, 1, 0x1p900} {
		s, err := NewSampler(4, 2, scale)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			grad []float64
			want []uint32
		}{
			{[]float64{0, 0, 0, 0}, []uint32{4, 5}}, {[]float64{math.Copysign(0, -1), scale, 0, 0}, []uint32{1, 4}},
			{[]float64{scale, 0, -scale, 0}, []uint32{0, 2}}, {[]float64{math.MaxFloat64, 0, 0, -math.MaxFloat64}, []uint32{0, 3}},
		} {
			if x, err := s.Sample(c.grad, nil); err != nil || !slices.Equal(x.Index, c.want) {
				t.Errorf("scale %g: %v is drawn from %v, %v, want %v", scale, x.Index, c.grad, err, c.want)
			}
		}
	}
}

func TestSampleDoesNotAllocate(t *testing.T) {
	grad := randomGradient(1000)
	s, err := NewSampler(len(grad), 64, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{}))
	if n := testing.AllocsPerRun(20, func() { _, _ = s.Sample(grad, rng) }); n != 0 {
		t.Errorf("Sample allocates %g times, want 0", n)
	}
}

func randomGradient(dim int) []float64 {
	rng := rand.New(rand.NewChaCha8([32]byte{6}))
	grad := make([]float64, dim)
	for j := range grad {
		grad[j] = rng.NormFloat64()
	}
	return grad
}
