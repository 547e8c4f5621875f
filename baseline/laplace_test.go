package baseline_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

func laplaceRound(dim int, epsilon float64) fl.Round {
	return fl.Round{
		ID: "test", Mechanism: baseline.Laplace, Dim: dim, Scale: 2, Epsilon: epsilon,
		Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
	}
}

func laplaceOpen(t testing.TB, r fl.Round) fl.Mechanism {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Whole rounds: the mean of 2000 reports in every coordinate and as a squared error over
// 200 of them, 4 cases. The mean of 2000 Laplace variables has kurtosis 3.0015, so that it
// is beyond 6 standard deviations with probability below 4e-9: 800 of them make 3e-6. The
// sum of squares is beyond 6.5 of its deviations with less than 1e-7.
func TestLaplaceEstimateIsTheClippedMean(t *testing.T) {
	const dim, n = 200, 2000
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	grad := make([]float64, dim)
	norm := 0.
	for j := range grad {
		grad[j] = float64(j%7) - 2.5
		norm += math.Abs(grad[j])
	}
	for _, c := range []struct{ epsilon, length float64 }{{0.005, 2}, {1, 6}, {20, 6}, {20, 1}} {
		m := laplaceOpen(t, laplaceRound(dim, c.epsilon))
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
		squared := 0.
		for j, v := range e.Mean().Value {
			se := e.Mean().StdErr[j]
			if want := 2 * math.Sqrt2 * 2 / c.epsilon / math.Sqrt(n); math.Abs(se-want) > 1e-5*want {
				t.Fatalf("%+v: standard error %g, want 2√2·C/ε/√n = %g", c, se, want)
			}
			z := (v - x[j]*min(1, 2/c.length)) / se
			squared += z * z
			if math.Abs(z) > 6 {
				t.Errorf("%+v: coordinate %d: %g ± %g (%.1f)", c, j, v, se, z)
			}
		}
		if z := (squared - dim) / math.Sqrt(2*dim); math.Abs(z) > 6.5 {
			t.Errorf("%+v: squared error is %.3f of the exact one (%.1f)", c, squared/dim, z)
		}
	}
}

func TestLaplaceOpenRefuses(t *testing.T) {
	for param, change := range map[string]func(*fl.Round){
		"epsilon":  func(r *fl.Round) { r.Epsilon = math.Nextafter(baseline.LaplaceMinEpsilon, 0) },
		"delta":    func(r *fl.Round) { r.Delta = 1e-9 },
		"relation": func(r *fl.Round) { r.Relation = fl.ZeroOut },
		"params":   func(r *fl.Round) { r.Params = fl.Params{"sparsity": fl.Int(1)} },
		"scale":    func(r *fl.Round) { r.Scale = 5e-324 },
	} {
		r := laplaceRound(3, 1)
		change(&r)
		var p *fl.ParamError
		if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	r := laplaceRound(3, 1)
	r.Epsilon = math.Inf(1)
	if _, err := fl.Open(r); err == nil {
		t.Error("ε = +Inf is accepted")
	}
}

func TestLaplacePromise(t *testing.T) {
	m := laplaceOpen(t, laplaceRound(5, 1))
	if g, want := m.Guarantee(), (fl.Guarantee{Trust: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne}); g != want {
		t.Errorf("%+v, want %+v", g, want)
	}
	clone, err := privacy.NewClone(1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := clone.Epsilon(10_000, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.(fl.Amplifier).Shuffled().Epsilon(10_000, 1e-6); err != nil || got != want {
		t.Errorf("central ε %g, %v, want the bound of clones, %g", got, err, want)
	}
	if got, err := m.(fl.Amplifier).Shuffled().Delta(10_000, want); err != nil || !(got <= 1e-6 && got > 0.9e-6) {
		t.Errorf("central δ %g, %v, want 1e-6", got, err)
	}
}

func BenchmarkLaplaceEncodeAdd(b *testing.B) {
	m := laplaceOpen(b, laplaceRound(2000, 1))
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
