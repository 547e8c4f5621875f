package quantize

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func newQuantizer(t *testing.T, c Config) *Quantizer {
	t.Helper()
	q, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Rounding hits the two nearest levels with mean v, clipped at ±levels. 41 means of
// 20 000 are within 6 standard deviations but with probability 1e-7.
func TestRoundingIsUnbiased(t *testing.T) {
	q := &Quantizer{levels: 2}
	rng := rand.New(rand.NewChaCha8([32]byte{60}))
	const trials = 20_000
	for v := -2.5; v <= 2.5; v += 0.125 {
		want := min(max(v, -2), 2)
		sum := 0.0
		for range trials {
			r := float64(q.round(v, rng))
			if r < math.Floor(want) || r > math.Ceil(want) {
				t.Fatalf("%g became %g", v, r)
			}
			sum += r
		}
		p := want - math.Floor(want)
		if math.Abs(sum/trials-want) > 6*math.Sqrt(p*(1-p)/trials) {
			t.Errorf("%g is rounded to %g on average, want %g", v, sum/trials, want)
		}
	}
}

// What is dequantized is the gradient up to rounding, which has a variance of at most 1/4
// level in a coordinate: the sum of 3 squares over their bound is far below 30.
func TestQuantizedGradientsComeBack(t *testing.T) {
	q := newQuantizer(t, Config{Dim: 3, Key: [32]byte{1}, ClipNorm: 2, Range: 4, Levels: 1 << 12})
	rng := rand.New(rand.NewChaCha8([32]byte{61}))
	for _, c := range []struct{ grad, want []float64 }{
		{[]float64{0.5, -1, 0.25}, []float64{0.5, -1, 0.25}},
		{[]float64{0, 30, 40}, []float64{0, 1.2, 1.6}},
		{[]float64{0, 3e300, 4e300}, []float64{0, 1.2, 1.6}},
	} {
		levels, err := q.Quantize(c.grad, rng)
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]float64, len(levels))
		for i, v := range levels {
			if v < -q.Levels() || v > q.Levels() {
				t.Errorf("coordinate %d is %d, beyond the levels", i, v)
			}
			sum[i] = float64(v)
		}
		got, stdErr, err := q.Dequantize(sum, 0.25)
		if err != nil {
			t.Fatal(err)
		}
		off := 0.0
		for j := range got {
			off += (got[j] - c.want[j]) * (got[j] - c.want[j]) / (stdErr * stdErr)
		}
		if !(off < 30) {
			t.Errorf("%v comes back as %v ± %g, want %v", c.grad, got, stdErr, c.want)
		}
	}
}

func TestBadConfigsAreRefused(t *testing.T) {
	good := Config{Dim: 3, ClipNorm: 2, Range: 2, Levels: 1}
	for param, change := range map[string]func(*Config){
		"dim":       func(c *Config) { c.Dim = 0 },
		"clip_norm": func(c *Config) { c.ClipNorm = math.Inf(1) },
		"range":     func(c *Config) { c.Range = math.NaN() },
		"levels":    func(c *Config) { c.Levels = 1<<20 + 1 },
	} {
		c := good
		change(&c)
		var p *fl.ParamError
		if _, err := New(c); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%+v: %v, want a ParamError for %s", c, err, param)
		}
	}
	c := good
	c.ClipNorm = 1e-320
	if _, err := New(c); err == nil {
		t.Error("a unit without an inverse was accepted")
	}
}
