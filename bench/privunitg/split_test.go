package privunitg

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privunit"
)

// The least error over the threshold, by mpmath 1.3 with 30 digits: a grid of 1401
// thresholds and a ternary search around its best.
func TestErrorValues(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		dim     int
		want    float64
	}{
		{1e-3, 1, 12566370.583754},
		{1e-3, 10, 69115038.875421},
		{1e-3, 2000, 12572653894.109},
		{0.1, 1, 1256.6064765535},
		{0.1, 10, 6912.0002467044},
		{0.1, 2000, 1257359.8152214},
		{1, 1, 12.537696353075},
		{1, 10, 69.607834965535},
		{1, 2000, 12666.413132851},
		{4, 1, 0.77487272964619},
		{4, 10, 4.7672210630743},
		{4, 2000, 871.0764068263},
		{8, 1, 0.20284065953276},
		{8, 10, 1.4433376629155},
		{8, 2000, 265.95781251427},
		{16, 1, 0.062297257137429},
		{16, 10, 0.51431342343258},
		{16, 2000, 96.175451263517},
		{20, 1, 0.044400332530635},
		{20, 10, 0.38036480215266},
		{20, 2000, 71.526333520031},
	} {
		got, err := Error(c.epsilon, c.dim)
		// The 2^-40 that p gives away is 10^-9 of the signal at the smallest ε.
		if err != nil || math.Abs(got/c.want-1) > 1e-8 || got < c.want*(1-1e-12) {
			t.Errorf("Error(%g, %d) = %.14g, %v, want %.14g", c.epsilon, c.dim, got, err, c.want)
		}
	}
	for _, c := range []struct {
		epsilon float64
		dim     int
		param   string
	}{{0, 1, "epsilon"}, {math.NaN(), 1, "epsilon"}, {21, 1, "epsilon"}, {1, 0, "dim"}, {1, fl.MaxDim + 1, "dim"}} {
		var p *fl.ParamError
		if _, err := Error(c.epsilon, c.dim); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The error of package privunit beside the error here: at most 4 % above it up to ε = 4, and 12 % at 8. 1024 candidates are within 4 % there.
func TestErrorIsNearPrivUnitG(t *testing.T) {
	for _, c := range []struct {
		epsilon    float64
		candidates int
		most       float64
	}{{0.1, 0, 1.01}, {1, 0, 1.01}, {2, 0, 1.01}, {4, 0, 1.02}, {8, 0, 1.12}, {8, 1024, 1.04}} {
		for _, dim := range []int{100, 650, 200_000} {
			got, err := privunit.Point{Dim: dim, Epsilon: c.epsilon, Candidates: c.candidates}.MSE()
			if err != nil {
				t.Fatal(err)
			}
			best, err := Error(c.epsilon, dim)
			if err != nil {
				t.Fatal(err)
			}
			if ratio := got / best; ratio > c.most || ratio < 0.98 {
				t.Errorf("ε=%g dim=%d k=%d: %.5g is %.4f times %.5g, want at most %g", c.epsilon, dim, c.candidates, got, ratio, best, c.most)
			}
		}
	}
}

// The ratio of the densities on the two sides of the threshold, from the integers that are
// drawn with: never above e^ε, and not below by more than 2^-38 of itself.
func TestDensityRatio(t *testing.T) {
	for _, epsilon := range []float64{MinEpsilon, 0.01, 0.1, 0.5, 1, 2, 4, 8, 12, 16, 20} {
		for _, dim := range []int{2, 3, 100, 2001} {
			s := newSplit(epsilon, dim)
			above, below := float64(s.above), float64(certain-s.above)
			spent := math.Log(above/below) + math.Log(1-s.upper) - math.Log(s.upper) - epsilon
			if spent > -0x1p-42 || spent < -0x1p-38 {
				t.Errorf("ε=%g, %d dimensions: the ratio is e^ε times 1%+g", epsilon, dim, spent)
			}
			if want := math.Erfc(s.z/math.Sqrt2) / 2; math.Abs(s.upper/want-1) > 1e-14 || math.Abs(s.q+s.upper-1) > 1e-15 || !(s.z >= 0) {
				t.Errorf("ε=%g: P[U ≥ %g] = %g", epsilon, s.z, s.upper)
			}
		}
	}
}

// draw is above the threshold with probability p, and its first two moments are s and
// 1 + z·s. 11 laws with 3 deviations within 5.5 standard errors: 33·4e-8 = 1.3e-6.
func TestDrawHasTheMoments(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	const draws = 60_000
	for _, epsilon := range []float64{0.01, 0.1, 0.5, 1, 2, 4, 6, 8, 12, 16, 20} {
		s := newSplit(epsilon, 100)
		var above, first, second, fourth float64
		for range draws {
			x := s.draw(rng)
			if x >= s.z {
				above++
			}
			first += x / draws
			second += x * x / draws
			fourth += x * x * x * x / draws
		}
		mean, square := s.slope(), 1+s.z*s.slope()
		for what, z := range map[string]float64{
			"side":   (above - draws*s.p) / math.Sqrt(draws*s.p*(1-s.p)),
			"mean":   (first - mean) / math.Sqrt((square-mean*mean)/draws),
			"square": (second - square) / math.Sqrt((fourth-square*square)/draws),
		} {
			if !(math.Abs(z) < 5.5) {
				t.Errorf("ε=%g: the %s is %.1f standard errors off", epsilon, what, z)
			}
		}
	}
}

// The tail beyond z: quartiles of the conditional law, from erfc. 4 thresholds with 4 counts
// of mean N/4 within 5.5 standard deviations: 7e-7.
func TestUpperTail(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	const draws = 40_000
	for _, z := range []float64{0, 0.5, 2, 5.3} {
		var counts [4]float64
		for range draws {
			x := upperNormal(z, rng)
			counts[min(3, int(4*math.Erfc(x/math.Sqrt2)/math.Erfc(z/math.Sqrt2)))]++
		}
		for i, c := range counts {
			if d := (c - draws/4) / math.Sqrt(draws*3./16); math.Abs(d) > 5.5 {
				t.Errorf("z=%g: %v of %d draws in quarter %d (%.1f)", z, c, draws, i, d)
			}
		}
	}
}
