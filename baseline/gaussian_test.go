package baseline

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rounded"
	"github.com/hushgrad/hushgrad/privacy"
)

func gaussianRound(dim int, epsilon, delta float64) fl.Round {
	return fl.Round{
		ID: "test", Mechanism: Gaussian, Dim: dim, Scale: 2, Epsilon: epsilon, Delta: delta,
		Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
	}
}

func gaussianOpen(t testing.TB, r fl.Round) fl.Mechanism {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Whole rounds: the mean of 2000 reports of a gradient of three times the norm, in every
// coordinate and as a squared error over 200 of them: 200 coordinates and one χ² sum per
// case, 4 cases. Beyond 5.9 standard deviations with probability below 800·4e-9 + 4·1e-7
// = 4e-6; the χ² of 200 degrees is beyond 6.5 of its deviations with less than 1e-7.
func TestGaussianEstimateIsTheClippedMean(t *testing.T) {
	const dim, n = 200, 2000
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	grad := make([]float64, dim)
	norm := 0.
	for j := range grad {
		grad[j] = float64(j%7) - 2.5
		norm += grad[j] * grad[j]
	}
	norm = math.Sqrt(norm)
	for _, c := range []struct{ epsilon, delta, length float64 }{{1, 1e-5, 6}, {8, 1e-6, 6}, {20, 0.99, 6}, {20, 0.99, 1}} {
		m := gaussianOpen(t, gaussianRound(dim, c.epsilon, c.delta))
		x := make([]float64, dim)
		for j := range x {
			x[j] = grad[j] * c.length / norm
		}
		agg := m.NewAggregator()
		for range n {
			report, err := m.Encode(nil, x, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		sigma, err := GaussianSigma(c.epsilon, c.delta, 4)
		if err != nil {
			t.Fatal(err)
		}
		sigma = max(sigma, 0.22*2)
		squared := 0.
		for j, v := range e.Mean().Value {
			se := e.Mean().StdErr[j]
			if want := sigma / math.Sqrt(n); math.Abs(se-want) > 1e-5*want {
				t.Fatalf("%+v: standard error %g, want σ/√n = %g", c, se, want)
			}
			z := (v - x[j]*min(1, 2/c.length)) / se
			squared += z * z
			if math.Abs(z) > 5.9 {
				t.Errorf("%+v: coordinate %d: %g ± %g (%.1f)", c, j, v, se, z)
			}
		}
		if z := (squared - dim) / math.Sqrt(2*dim); math.Abs(z) > 6.5 {
			t.Errorf("%+v: squared error is %.3f of the exact one (%.1f)", c, squared/dim, z)
		}
	}
}

func TestGaussianOpenRefuses(t *testing.T) {
	for param, change := range map[string]func(*fl.Round){
		"epsilon":  func(r *fl.Round) { r.Epsilon = math.Inf(1) },
		"delta":    func(r *fl.Round) { r.Delta = 0 },
		"relation": func(r *fl.Round) { r.Relation = fl.ZeroOut },
		"params":   func(r *fl.Round) { r.Params = fl.Params{"sparsity": fl.Int(1)} },
		"scale":    func(r *fl.Round) { r.Scale = 5e-324 },
	} {
		r := gaussianRound(3, 1, 1e-5)
		change(&r)
		var p *fl.ParamError
		if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	r := gaussianRound(3, 1, 1e-5)
	r.Scale = math.MaxFloat64
	if _, err := fl.Open(r); err == nil {
		t.Error("the largest float64 as Scale is accepted")
	}
	// What the table's distance leaves is what σ is calibrated for.
	r = gaussianRound(fl.MaxDim, 20, 1e-18)
	if _, err := fl.Open(r); err == nil {
		t.Error("a δ below the distance of the table's law is accepted")
	}
}

func TestGaussianPromise(t *testing.T) {
	m := gaussianOpen(t, gaussianRound(5, 1, 1e-5))
	if g, want := m.Guarantee(), (fl.Guarantee{Trust: fl.Local, Epsilon: 1, Delta: 1e-5, Relation: fl.ReplaceOne}); g != want {
		t.Errorf("%+v, want %+v", g, want)
	}
	if _, ok := m.(fl.Amplifier); ok {
		t.Error("bounds for pure ε are offered")
	}
	if n := m.(fl.ReportSizer).ReportBytes(); n != 10 {
		t.Errorf("%d bytes", n)
	}
}

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
		got, err := GaussianSigma(c.epsilon, c.delta, 3)
		if err != nil || got < 3*c.want || got > 3*c.want*(1+1e-10) {
			t.Errorf("Sigma(%g, %g, 3) = %.15g, %v, want %.15g rounded up", c.epsilon, c.delta, got, err, 3*c.want)
		}
	}
}

// The numerical accountant agrees: δ is met at σ and not at 0.999·σ.
func TestSigmaAgainstTheAccountant(t *testing.T) {
	for _, c := range []struct{ epsilon, delta float64 }{{0.1, 1e-5}, {1, 1e-5}, {1, 1e-8}, {4, 1e-6}, {8, 1e-6}} {
		sigma, err := GaussianSigma(c.epsilon, c.delta, 1)
		if err != nil {
			t.Fatal(err)
		}
		for factor, enough := range map[float64]bool{1.0001: true, 0.999: false} {
			loss, err := privacy.Gaussian(t.Context(), factor*sigma, privacy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			delta, err := loss.Delta(t.Context(), c.epsilon)
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
			if _, err := GaussianSigma(c[0], c[1], c[2]); !errors.As(err, &p) || p.Param != param {
				t.Errorf("%v: %v, want a ParamError for %s", c, err, param)
			}
		}
	}
	// The corners of the domain are solved.
	for _, c := range [][2]float64{{1e-9, 1e-300}, {1e-9, 0.999}, {100, 1e-300}, {100, 0.999}} {
		if sigma, err := GaussianSigma(c[0], c[1], 1); err != nil || !(sigma > 0) || math.IsInf(sigma, 1) {
			t.Errorf("%v: %v, %v", c, sigma, err)
		}
	}
}

// With the same randomness, coordinates less than a step apart from 0, on either side, give the
// report of 0. Other coordinates give the report of the next multiple towards 0.
func TestTruncationIsTowardsZero(t *testing.T) {
	noise, err := rounded.New()
	if err != nil {
		t.Fatal(err)
	}
	p := gaussianPerturber{noise: noise, step: 0.25}
	draw := func(seed byte, x, clip float64) []byte {
		grad := make([]float64, 200)
		for j := range grad {
			grad[j] = x
		}
		return p.Perturb(nil, grad, clip, rand.New(rand.NewChaCha8([32]byte{seed})))
	}
	for _, c := range []struct {
		x, clip float64
		steps   int64
	}{{0.249, 1, 0}, {-0.249, 1, 0}, {0.999, 1, 3}, {-0.999, 1, -3}, {-1, 1, -4}, {80, 0.5, 160}} {
		// Whether one step more is seen in a report of 32 steps is a matter of chance.
		differs := 0
		for seed := range byte(10) {
			got, rng := draw(seed, c.x, c.clip), rand.New(rand.NewChaCha8([32]byte{seed}))
			for j := range 200 {
				if want := int16((c.steps + noise.Rand(rng)) >> coarsening); int16(binary.LittleEndian.Uint16(got[2*j:])) != want {
					differs++
				}
			}
		}
		if differs > 0 {
			t.Errorf("%+v: %d of 2000 reports differ", c, differs)
		}
	}
}

// The largest outcomes fit 16 bits.
func TestOutcomesFit(t *testing.T) {
	largest := rounded.Deviation/leastSigma*slack + rounded.Limit
	if !(largest < 1<<(15+coarsening)) {
		t.Errorf("outcomes up to %g need more than 16 bits", largest)
	}
}

func BenchmarkGaussianEncodeAdd(b *testing.B) {
	m := gaussianOpen(b, gaussianRound(2000, 1, 1e-5))
	agg, rng, grad, buffer := m.NewAggregator(), rand.New(rand.NewChaCha8([32]byte{7})), make([]float64, 2000), []byte(nil)
	for j := range grad {
		grad[j] = float64(j%5) - 2
	}
	for b.Loop() {
		report, err := m.Encode(buffer[:0], grad, rng)
		if err != nil {
			b.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			b.Fatal(err)
		}
		buffer = report
	}
}
