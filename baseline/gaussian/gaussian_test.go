package gaussian_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/baseline/gaussian"
	"github.com/hushgrad/hushgrad/fl"
)

func round(dim int, epsilon, delta float64) fl.Round {
	return fl.Round{
		ID: "test", Mechanism: gaussian.Name, Dim: dim, Scale: 2, Epsilon: epsilon, Delta: delta,
		Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
	}
}

func open(t testing.TB, r fl.Round) fl.Mechanism {
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
func TestEstimateIsTheClippedMean(t *testing.T) {
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
		m := open(t, round(dim, c.epsilon, c.delta))
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
		sigma, err := gaussian.Sigma(c.epsilon, c.delta, 4)
		if err != nil {
			t.Fatal(err)
		}
		sigma = max(sigma, 0.22*2)
		squared := 0.
		for j, v := range e.Value {
			se := e.StdErr[j]
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

func TestOpenRefuses(t *testing.T) {
	for param, change := range map[string]func(*fl.Round){
		"epsilon":  func(r *fl.Round) { r.Epsilon = math.Inf(1) },
		"delta":    func(r *fl.Round) { r.Delta = 0 },
		"relation": func(r *fl.Round) { r.Relation = fl.ZeroOut },
		"params":   func(r *fl.Round) { r.Params = fl.Params{"sparsity": fl.Int(1)} },
		"scale":    func(r *fl.Round) { r.Scale = 5e-324 },
	} {
		r := round(3, 1, 1e-5)
		change(&r)
		var p *fl.ParamError
		if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	r := round(3, 1, 1e-5)
	r.Scale = math.MaxFloat64
	if _, err := fl.Open(r); err == nil {
		t.Error("the largest float64 as Scale is accepted")
	}
	// What the table's distance leaves is what σ is calibrated for.
	r = round(fl.MaxDim, 20, 1e-18)
	if _, err := fl.Open(r); err == nil {
		t.Error("a δ below the distance of the table's law is accepted")
	}
}

func TestPromise(t *testing.T) {
	m := open(t, round(5, 1, 1e-5))
	if g, want := m.Guarantee(), (fl.Guarantee{Model: fl.Local, Epsilon: 1, Delta: 1e-5, Relation: fl.ReplaceOne}); g != want {
		t.Errorf("%+v, want %+v", g, want)
	}
	if _, ok := m.(fl.Amplifier); ok {
		t.Error("bounds for pure ε are offered")
	}
	if n := m.(fl.ReportSizer).ReportBytes(); n != 10 {
		t.Errorf("%d bytes", n)
	}
}

func BenchmarkEncodeAdd(b *testing.B) {
	m := open(b, round(2000, 1, 1e-5))
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
