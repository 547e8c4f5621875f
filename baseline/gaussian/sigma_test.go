package gaussian_test

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/baseline/gaussian"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

// σ/sensitivity, the root of the condition of Theorem 8, by mpmath 1.3 with 60 digits.
func TestSigmaValues(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, want float64 }{
		{0.01, 1e-05, 243.78543767567802},
		{0.1, 1e-06, 36.304690426195783},
		{0.5, 1e-05, 7.0318266755824914},
		{1, 1e-05, 3.7306316348159418},
		{1, 1e-08, 5.1003087875299272},
		{2, 1e-06, 2.2304762711864173},
		{4, 1e-06, 1.1935185871579852},
		{8, 1e-06, 0.65293538435821595},
		{8, 0.1, 0.32145552724783765},
		{16, 1e-12, 0.49017485021761136},
		{20, 0.5, 0.15433077973688789},
	} {
		got, err := gaussian.Sigma(c.epsilon, c.delta, 3)
		if err != nil || got < 3*c.want || got > 3*c.want*(1+1e-10) {
			t.Errorf("Sigma(%g, %g, 3) = %.15g, %v, want %.15g rounded up", c.epsilon, c.delta, got, err, 3*c.want)
		}
	}
}

// The numerical accountant agrees: δ is met at σ and not at 0.999·σ.
func TestSigmaAgainstTheAccountant(t *testing.T) {
	for _, c := range []struct{ epsilon, delta float64 }{{0.1, 1e-5}, {1, 1e-5}, {1, 1e-8}, {4, 1e-6}, {8, 1e-6}} {
		sigma, err := gaussian.Sigma(c.epsilon, c.delta, 1)
		if err != nil {
			t.Fatal(err)
		}
		for factor, enough := range map[float64]bool{1.0001: true, 0.999: false} {
			loss, err := compose.Gaussian(factor*sigma, compose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			delta, err := loss.Delta(c.epsilon)
			if err != nil {
				t.Fatal(err)
			}
			if enough && !(delta.Upper <= c.delta) || !enough && !(delta.Lower > c.delta) {
				t.Errorf("ε=%g, δ=%g: δ in [%g, %g] at %g·σ", c.epsilon, c.delta, delta.Lower, delta.Upper, factor)
			}
		}
	}
}

func TestSigmaRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for param, list := range map[string][][3]float64{
		"epsilon":     {{0, 0.1, 1}, {-1, 0.1, 1}, {nan, 0.1, 1}, {inf, 0.1, 1}, {101, 0.1, 1}},
		"delta":       {{1, 0, 1}, {1, 1, 1}, {1, -1, 1}, {1, nan, 1}},
		"sensitivity": {{1, 0.1, 0}, {1, 0.1, -1}, {1, 0.1, inf}, {1, 0.1, nan}},
	} {
		for _, c := range list {
			var p *fl.ParamError
			if _, err := gaussian.Sigma(c[0], c[1], c[2]); !errors.As(err, &p) || p.Param != param {
				t.Errorf("%v: %v, want a ParamError for %s", c, err, param)
			}
		}
	}
	// The corners of the domain are solved.
	for _, c := range [][2]float64{{1e-9, 1e-300}, {1e-9, 0.999}, {100, 1e-300}, {100, 0.999}} {
		if sigma, err := gaussian.Sigma(c[0], c[1], 1); err != nil || !(sigma > 0) || math.IsInf(sigma, 1) {
			t.Errorf("%v: %v, %v", c, sigma, err)
		}
	}
}
