package hetero_test

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/hetero"
	"github.com/hushgrad/hushgrad/fl"
)

// Equal demands have no variance, so that high is noise alone. ε = ½ and 1 for half of the clients
// each have Var(e^−ε) = ((e^−½ − e^−1)/2)², with which n is too small for the other term.
func TestUncorrelatedBoundsByHand(t *testing.T) {
	bounds := func(n int, a, b float64, categories int, beta float64) (low, high float64) {
		eps := make([]float64, n)
		for i := range eps {
			eps[i] = []float64{a, b}[i%2]
		}
		low, high, err := hetero.UncorrelatedBounds(eps, categories, beta)
		if err != nil {
			t.Fatal(err)
		}
		return low, high
	}
	c := 1 - 1/math.E
	low, high := bounds(1000, 0.1, 0.1, 5, 0.05)
	requireClose(t, "low", low, math.Log(4/0.25)/200-1./2000, 1e-12)
	requireClose(t, "high", high, 2*math.Log(200)/(c*100), 1e-12)
	low, high = bounds(1000, 0.1, 0.1, 1, 0.05)
	requireClose(t, "low of a mean", low, math.Log(10)/200-1./2000, 1e-12)
	requireClose(t, "high of a mean", high, math.Log(40)/(c*100), 1e-12)
	low, _ = bounds(1000, 0.1, 0.1, 20, 0.4)
	requireClose(t, "low of many categories", low, math.Log(20*0.6)/(math.E-1)/200-1./2000, 1e-12)
	_, high = bounds(100, 0.5, 1, 5, 0.05)
	requireClose(t, "high with little variance", high, (2*math.Log(200)+100*(math.Exp(-0.5)-math.Exp(-1))/4)/(c*75), 1e-9)
	_, high = bounds(10_000, 0.01, 1, 5, 0.05)
	requireClose(t, "high of many clients", high, (2*math.Log(200)+math.Sqrt(5000*math.Log(400)))/(c*5050), 1e-12)
	low, high = bounds(4, 1e-3, 1e-3, 5, 0.05)
	requireClose(t, "low of few clients", low, 0.5, 0)
	requireClose(t, "high of few clients", high, 1, 0)
}

// The closed form on the left is never above the bound that is computed exactly.
func TestUncorrelatedBoundsAreInOrder(t *testing.T) {
	rng := newRand()
	for range 200 {
		eps := make([]float64, 1+rng.IntN(3000))
		for i := range eps {
			eps[i] = math.Exp(-6 * rng.Float64())
		}
		categories, beta := 1+rng.IntN(30), math.Exp(-1-6*rng.Float64())
		low, high, err := hetero.UncorrelatedBounds(eps, categories, beta)
		if err != nil {
			t.Fatal(err)
		}
		if exact := must(hetero.UncorrelatedLowerBound(eps, categories, beta)); low > exact*(1+1e-9) || exact > high {
			t.Errorf("n = %d, k = %d, β = %g: %g, %g and %g are not in order", len(eps), categories, beta, low, exact, high)
		}
	}
}

// Estimates with the weights of Saturating are below high. A bound that fails with probability
// 0.05 is missed more than 40 times in 200 with probability below 1e-12.
func TestSaturatingKeepsBelowTheBound(t *testing.T) {
	const n, k = 20_000, 5
	rng, eps, values := newRand(), make([]float64, n), make([]int, n)
	for i := range eps {
		eps[i], values[i] = math.Exp(-4*rng.Float64()), i%k
	}
	_, high, err := hetero.UncorrelatedBounds(eps, k, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	h, missed := must(hetero.NewHistogram(eps, must(hetero.Saturating(eps)), k)), 0
	for range 200 {
		rng.Shuffle(n, func(i, j int) { values[i], values[j] = values[j], values[i] })
		for _, f := range must(h.Estimate(values, rng)) {
			if math.Abs(f-1./k) > high {
				missed++
				break
			}
		}
	}
	if missed > 40 || high > 0.1 {
		t.Errorf("the bound %g is missed in %d of 200", high, missed)
	}
}

// Half of the clients are public, the others ask for nearly everything. The mean of the half is what is
// left: in random order, half of the values being 1, its mean square is 1/(4(n−1)), and the paper
// proves that none is below 1/(8n). The mean of 4000 squares has a relative deviation of √(2/4000).
func TestHalfPublic(t *testing.T) {
	const n, repeats = 1000, 4000
	rng, eps, values := newRand(), make([]float64, n), make([]float64, n)
	for i := range eps {
		eps[i], values[i] = hetero.MinEpsilon, float64(i%2)
		if i < n/2 {
			eps[i] = inf
		}
	}
	for name, w := range map[string]hetero.Weights{
		"A": must(hetero.Saturating(eps)), "U": must(hetero.Uncorrelated(eps, must(hetero.MSEFactor(1)))),
		"C": must(hetero.Correlated(eps, must(hetero.MSEFactor(1)))),
	} {
		mean, square := must(hetero.NewMean(eps, w)), 0.
		for range repeats {
			rng.Shuffle(n, func(i, j int) { values[i], values[j] = values[j], values[i] })
			e := must(mean.Estimate(values, rng)) - 0.5
			square += e * e / repeats
		}
		if square < 1./(8*n) || math.Abs(square*4*(n-1)-1) > 6*math.Sqrt(2./repeats) {
			t.Errorf("%s: the mean square is %g, 1/(8n) is %g", name, square, 1./(8*n))
		}
	}
}

func TestUncorrelatedBoundsRefuse(t *testing.T) {
	for _, c := range []struct {
		param      string
		eps        []float64
		categories int
		beta       float64
	}{
		{"eps", nil, 2, 0.1}, {"eps[1]", []float64{1, 1.01}, 2, 0.1}, {"eps[0]", []float64{inf}, 2, 0.1},
		{"categories", []float64{1}, 0, 0.1}, {"beta", []float64{1}, 2, 0.5},
	} {
		var bad *fl.ParamError
		if _, _, err := hetero.UncorrelatedBounds(c.eps, c.categories, c.beta); !errors.As(err, &bad) || bad.Param != c.param {
			t.Errorf("got error %v, want it to name %s", err, c.param)
		}
	}
}
