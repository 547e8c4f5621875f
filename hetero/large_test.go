package hetero_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/hetero"
)

const many = 1_000_000

// The weights are min(v·ε, λ). At the minimum over v the derivative is 0: for Turbo
// Σ ε·(ρ−ε)_+ = noise with ρ = λ/v, and for Correlated L²v is between
// 4·Σ (1/n−vε)_+ times the sum of the demands below τ = 1/(nv), and times the sum of
// those up to τ.
func TestOptimalityConditionsOfManyUsers(t *testing.T) {
	n := many
	if testing.Short() {
		n /= 10
	}
	eps := demands(newRand(), n)
	waterFilling := func(name string, w hetero.Weights) (v, rho float64) {
		t.Helper()
		requireClose(t, name+" sum", floats.SumCompensated(w), 1, 1e-14)
		v = scale(w, eps)
		lambda := floats.Max(w)
		for i, x := range w {
			if want := math.Min(v*eps[i], lambda); math.Abs(x-want) > 1e-14*want {
				t.Fatalf("%s: weight %d is %.17g, want %.17g", name, i, x, want)
			}
		}
		return v, lambda / v
	}
	for _, noise := range []float64{1e-9, 1e-3, 1, 1e5} {
		_, rho := waterFilling("turbo", must(hetero.Turbo(eps, noise)))
		var terms []float64
		for _, e := range eps {
			terms = append(terms, e*max(0, rho-e))
			if math.IsInf(e, 1) {
				terms[len(terms)-1] = 0
			}
		}
		requireClose(t, "turbo", floats.SumCompensated(terms), noise, 1e-8)
	}
	for _, l := range []float64{1e-3, 1, 30} {
		v, _ := waterFilling("correlated", must(hetero.Correlated(eps, l)))
		tau := 1 / (float64(n) * v)
		var missing, below, upTo []float64
		for _, e := range eps {
			missing = append(missing, max(0, 1/float64(n)-v*e))
			if e < tau*(1-1e-10) {
				below = append(below, e)
			}
			if e <= tau*(1+1e-10) {
				upTo = append(upTo, e)
			}
		}
		slope := 4 * floats.SumCompensated(missing)
		got := l * l * v
		if lo, hi := slope*floats.SumCompensated(below), slope*floats.SumCompensated(upTo); got < lo*(1-1e-8) || got > hi*(1+1e-8) {
			t.Errorf("correlated: L²v = %.12g, want it in [%.12g, %.12g]", got, lo, hi)
		}
	}
}

// The paper's Algorithm 3 word for word: r_1 = ε_1, then
// r_{k+1} = min((Σ r_i² + c)/Σ r_i, ε_{k+1}) for ascending demands.
func TestTurboIsAlgorithm3(t *testing.T) {
	rng := newRand()
	for range 200 {
		eps := demands(rng, 2+rng.IntN(30))
		floats.Argsort(eps, make([]int, len(eps)))
		if math.IsInf(eps[0], 1) {
			continue
		}
		noise := math.Pow(10, -8+16*rng.Float64())
		r := []float64{eps[0]}
		for _, e := range eps[1:] {
			r = append(r, math.Min((floats.Dot(r, r)+noise)/floats.Sum(r), e))
		}
		floats.Scale(1/floats.Sum(r), r)
		for i, x := range must(hetero.Turbo(eps, noise)) {
			requireClose(t, "weight", x, r[i], 1e-12)
		}
	}
}

func BenchmarkWeights(b *testing.B) {
	eps := demands(newRand(), many)
	for name, of := range map[string]func([]float64) (hetero.Weights, error){
		"Saturating":   hetero.Saturating,
		"Correlated":   func(eps []float64) (hetero.Weights, error) { return hetero.Correlated(eps, 3) },
		"Uncorrelated": func(eps []float64) (hetero.Weights, error) { return hetero.Uncorrelated(eps, 3) },
		"Turbo":        func(eps []float64) (hetero.Weights, error) { return hetero.Turbo(eps, 3) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must(of(eps))
			}
		})
	}
}

func BenchmarkMean(b *testing.B) {
	eps := demands(newRand(), many)
	m := must(hetero.NewMean(eps, must(hetero.Saturating(eps))))
	values, rng := make([]float64, many), newRand()
	for b.Loop() {
		must(m.Estimate(values, rng))
	}
}
