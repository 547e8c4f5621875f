package hetero_test

import (
	"errors"
	"math"
	"math/bits"
	"testing"

	"github.com/hushgrad/hushgrad/bench/hetero"
	"github.com/hushgrad/hushgrad/fl"
)

// ε = 1, 1, 2, 4, 8 and k = 3: the sum must reach ln(2·0.9/0.1) = 2.89, which takes three
// clients; for a mean it must reach ln 9 = 2.197, three as well, and at β = 0.3 ln(7/3) = 0.85, one.
func TestCorrelatedLowerBoundByHand(t *testing.T) {
	eps := []float64{8, 1, 4, 1, 2}
	for _, c := range []struct {
		categories int
		beta, want float64
	}{{3, 0.1, 0.2}, {1, 0.1, 0.2}, {1, 0.3, 0}, {20, 0.001, 0.4}, {3, 1e-9, 0.5}} {
		requireClose(t, "bound", must(hetero.CorrelatedLowerBound(eps, c.categories, c.beta)), c.want, 1e-15)
	}
}

// The least m by enumeration of all subsets.
func TestUncorrelatedLowerBoundByEnumeration(t *testing.T) {
	rng, seen := newRand(), map[float64]bool{}
	for range 300 {
		n, categories := 2+rng.IntN(8), []int{1, 2, 5, 30}[rng.IntN(4)]
		beta := math.Exp(-1 - 8*rng.Float64())
		eps := make([]float64, n)
		for i := range eps {
			eps[i] = math.Exp(4*rng.Float64() - 3)
		}
		k, least := float64(max(2, categories)), n+1
		growth := 0.
		for _, e := range eps {
			growth += math.Exp(e) / float64(n)
		}
		for m := n; m > 0; m-- {
			falls, count := 0., 0.
			for subset := range 1 << n {
				if bits.OnesCount(uint(subset)) != m {
					continue
				}
				z := 0.
				for i, e := range eps {
					z += float64(subset>>i&1) * e
				}
				falls += math.Exp(-z)
				count++
			}
			if falls/count <= k*beta/(k-1) && math.Pow(growth, float64(m)) >= k*(1-beta) {
				least = m
			}
		}
		want := math.Min(0.5, float64(least-1)/float64(2*n))
		seen[want] = true
		requireClose(t, "bound", must(hetero.UncorrelatedLowerBound(eps, categories, beta)), want, 1e-12)
	}
	if len(seen) < 8 {
		t.Errorf("only %d different bounds", len(seen))
	}
}

// Beyond the subsets that are computed, the bound of equal demands comes from Jensen's
// inequality, which is an equality: m = ⌈ln(0.5/0.05)/ε⌉ for two data sets.
func TestUncorrelatedLowerBoundOfManyCarefulClients(t *testing.T) {
	eps := make([]float64, 20_000)
	for i := range eps {
		eps[i] = 0.001
	}
	m := math.Ceil(math.Log(1/(2*0.05)) / 0.001)
	requireClose(t, "bound", must(hetero.UncorrelatedLowerBound(eps, 1, 0.05)), (m-1)/(2*20_000), 1e-12)
	// Correlation only adds data sets.
	if c := must(hetero.CorrelatedLowerBound(eps, 1, 0.05)); c < (m-1)/(2*20_000) {
		t.Errorf("correlated %g", c)
	}
}

// No estimate that the package publishes is below the bounds: its own risk, with the error of
// the worst data, is above them. Equal weights have no bias, and their noise is above v·ln(1/β)
// with probability β/2 on each side.
func TestEstimatesAreAboveTheLowerBounds(t *testing.T) {
	rng := newRand()
	for range 100 {
		eps := demands(rng, 1+rng.IntN(50))
		w := must(hetero.Uniform(eps))
		if quantile := scale(w, eps) * math.Log(1/0.05); quantile < must(hetero.CorrelatedLowerBound(eps, 1, 0.05)) && quantile < 0.5 {
			t.Errorf("ε = %v: error %g", eps, quantile)
		}
	}
}

func TestLowerBoundsRefuse(t *testing.T) {
	for _, bound := range []func([]float64, int, float64) (float64, error){hetero.CorrelatedLowerBound, hetero.UncorrelatedLowerBound} {
		for _, c := range []struct {
			param      string
			eps        []float64
			categories int
			beta       float64
		}{
			{"eps", nil, 2, 0.1}, {"eps[0]", []float64{-1}, 2, 0.1}, {"categories", []float64{1}, 0, 0.1},
			{"beta", []float64{1}, 2, 0}, {"beta", []float64{1}, 2, 0.5}, {"beta", []float64{1}, 2, math.NaN()},
		} {
			var bad *fl.ParamError
			if _, err := bound(c.eps, c.categories, c.beta); !errors.As(err, &bad) || bad.Param != c.param {
				t.Errorf("got error %v, want it to name %s", err, c.param)
			}
		}
	}
}
