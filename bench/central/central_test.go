package central_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/central"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// T·(2/multiplier)² is what the single release with the σ/sensitivity of gaussian's test,
// by mpmath, has.
func TestMultiplierValues(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		releases       int
		sigma          float64
	}{
		{1, 1e-5, 1, 3.7306316348159418},
		{1, 1e-5, 30, 3.7306316348159418},
		{0.1, 1e-6, 7, 36.304690426195783},
		{8, 1e-6, 1000, 0.65293538435821595},
	} {
		g, err := central.New(c.epsilon, c.delta, c.releases, 3)
		if err != nil {
			t.Fatal(err)
		}
		want := 2 * c.sigma * math.Sqrt(float64(c.releases))
		if g.Multiplier < want || g.Multiplier > want*(1+1e-9) || g.Clip != 3 {
			t.Errorf("%+v: %+v, want multiplier %.15g rounded up", c, g, want)
		}
	}
}

// The numerical accountant composes the releases to the same δ.
func TestAccountantAgrees(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		releases       int
	}{{1, 1e-6, 30}, {4, 1e-5, 100}} {
		g, err := central.New(c.epsilon, c.delta, c.releases, 1)
		if err != nil {
			t.Fatal(err)
		}
		for factor, enough := range map[float64]bool{1.001: true, 0.99: false} {
			one, err := privacy.Gaussian(t.Context(), g.Multiplier/2*factor, privacy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all, err := one.Compose(c.releases)
			if err != nil {
				t.Fatal(err)
			}
			delta, err := all.Delta(t.Context(), c.epsilon)
			if err != nil {
				t.Fatal(err)
			}
			if enough && !(delta.Upper <= c.delta) || !enough && !(delta.Lower > c.delta) {
				t.Errorf("%+v: δ in [%g, %g] at %g times the noise", c, delta.Lower, delta.Upper, factor)
			}
		}
	}
}

// 5000 coordinates, each normal with the standard error of Multiplier·Clip/n: the largest is
// below 6.2 of them (3e-6 in all), mean and variance within 5.5 of theirs.
func TestReleaseIsTheNoisyMean(t *testing.T) {
	const dim, n = 5000, 100
	g := &central.Gaussian{Clip: 2, Multiplier: 10}
	sum := make([]float64, dim)
	for j := range sum {
		sum[j] = float64(j%11) - 5
	}
	out, err := g.Release(sum, n, rand.New(rand.NewChaCha8([32]byte{7})))
	if err != nil {
		t.Fatal(err)
	}
	var first, second float64
	for j, v := range out.Value {
		if se := out.StdErr[j]; se < 0.2 || se > 0.2*(1+1e-5) {
			t.Fatalf("standard error %g, want 0.2 rounded up", se)
		}
		z := (v - sum[j]/n) / out.StdErr[j]
		first += z
		second += z * z
		if math.Abs(z) > 6.2 {
			t.Errorf("coordinate %d: %g for %g (%.1f)", j, v, sum[j]/n, z)
		}
	}
	if z := first / math.Sqrt(dim); math.Abs(z) > 5.5 {
		t.Errorf("the noise has mean %.1f standard errors", z)
	}
	if z := (second - dim) / math.Sqrt(2*dim); math.Abs(z) > 5.5 {
		t.Errorf("the noise has %.3f of its variance (%.1f)", second/dim, z)
	}
}

// More coordinates or more noise make the grid matter more, and the noise grows to cover
// it: σ = Multiplier·(Clip + step·√dim).
func TestNoiseCoversTheGrid(t *testing.T) {
	g := &central.Gaussian{Clip: 1, Multiplier: 1e6}
	out, err := g.Release(make([]float64, 10_000), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	sigma := out.StdErr[0]
	if want := 1e6 * (1 + sigma/2111442119*100); sigma < want || sigma > want*(1+1e-5) {
		t.Errorf("σ = %.10g, want %.10g rounded up", sigma, want)
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	check := func(param string, err error) {
		t.Helper()
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v, want a ParamError for %s", err, param)
		}
	}
	for _, c := range []struct {
		epsilon, delta float64
		releases       int
		clip           float64
		param          string
	}{
		{0, 0.1, 1, 1, "epsilon"}, {nan, 0.1, 1, 1, "epsilon"}, {21, 0.1, 1, 1, "epsilon"}, {inf, 0.1, 1, 1, "epsilon"}, {1e-10, 0.1, 1, 1, "epsilon"},
		{1, 0, 1, 1, "delta"}, {1, 1, 1, 1, "delta"}, {1, nan, 1, 1, "delta"}, {20, 1e-13, 1000, 1, "delta"},
		{1, 0.1, 0, 1, "releases"}, {1, 0.1, 1_000_001, 1, "releases"},
		{1, 0.1, 1, 0, "clip"}, {1, 0.1, 1, nan, "clip"}, {1, 0.1, 1, inf, "clip"},
	} {
		_, err := central.New(c.epsilon, c.delta, c.releases, c.clip)
		check(c.param, err)
	}
	good := central.Gaussian{Clip: 1, Multiplier: 1}
	for _, c := range []struct {
		g     central.Gaussian
		sum   []float64
		n     int
		param string
	}{
		{central.Gaussian{Multiplier: 1}, []float64{0}, 1, "clip"},
		{central.Gaussian{Clip: 1}, []float64{0}, 1, "multiplier"},
		{central.Gaussian{Clip: 1, Multiplier: 2e9}, []float64{0}, 1, "multiplier"},
		{good, []float64{0}, 0, "n"},
		{good, []float64{0, nan}, 1, "sum"},
		{good, []float64{0, inf}, 1, "sum"},
		{good, []float64{-1 << 21}, 1, "sum"},
	} {
		_, err := c.g.Release(c.sum, c.n, nil)
		check(c.param, err)
	}
}
