package hetero_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/hetero"
	"github.com/hushgrad/hushgrad/fl"
)

var inf = math.Inf(1)

func newRand() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }

// must returns a result that is expected to have no error.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func requireClose(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) && got != want {
		t.Errorf("%s: got %.17g, want %.17g", what, got, want)
	}
}

func TestBadInputIsNamed(t *testing.T) {
	good, half := []float64{1, 2}, hetero.Weights{0.5, 0.5}
	rng := newRand()
	demands := func(eps ...float64) func() error {
		return func() error {
			_, a := hetero.Saturating(eps)
			_, b := hetero.Uniform(eps)
			_, c := hetero.Proportional(eps)
			_, d := hetero.Correlated(eps, 1)
			_, e := hetero.Uncorrelated(eps, 1)
			_, f := hetero.Turbo(eps, 1)
			_, g := hetero.CorrelatedRisk(eps, half, 1)
			_, h := hetero.UncorrelatedRisk(eps, half, 1)
			_, i := hetero.NewMean(eps, half)
			_, j := hetero.NewHistogram(eps, half, 2)
			_, k := hetero.NewLocal(eps, half, 1)
			_, l := hetero.NewSampling(eps, 1, 1)
			all := []error{a, b, c, d, e, f, g, h, i, j, k, l}
			for _, err := range all {
				if err == nil {
					return nil
				}
			}
			return errors.Join(all...)
		}
	}
	weights := func(w ...float64) func() error {
		return func() error {
			_, a := hetero.CorrelatedRisk(good, w, 1)
			_, b := hetero.UncorrelatedRisk(good, w, 1)
			_, c := hetero.NewMean(good, w)
			_, d := hetero.NewHistogram(good, w, 2)
			_, e := hetero.NewLocal(good, w, 1)
			all := []error{a, b, c, d, e}
			for _, err := range all {
				if err == nil {
					return nil
				}
			}
			return errors.Join(all...)
		}
	}
	second := func(_ any, err error) error { return err }
	mean := must(hetero.NewMean(good, half))
	histogram := must(hetero.NewHistogram(good, half, 3))
	localMean, localHistogram := must(hetero.NewLocal(good, half, 1)), must(hetero.NewLocal(good, half, 3))
	sampledMean, sampledHistogram := must(hetero.NewSampling(good, 1, 1)), must(hetero.NewSampling(good, 1, 3))
	nan := math.NaN()
	for _, c := range []struct {
		param string
		call  func() error
	}{
		{"eps", demands()},
		{"eps[1]", demands(1, 0)},
		{"eps[0]", demands(-1, 1)},
		{"eps[1]", demands(1, nan)},
		{"eps[1]", demands(1, 1e-10)},
		{"eps[1]", demands(1, 1e10)},
		{"eps[0]", demands(math.Inf(-1), 1)},
		{"weights", weights(1)},
		{"weights", weights(0.5, 0.4)},
		{"weights[1]", weights(0.5, nan)},
		{"weights[0]", weights(-0.1, 1.1)},
		{"weights[0]", weights(inf, 0)},
		{"l", func() error { return second(hetero.Correlated(good, -1)) }},
		{"l", func() error { return second(hetero.Uncorrelated(good, nan)) }},
		{"l", func() error { return second(hetero.CorrelatedRisk(good, half, inf)) }},
		{"l", func() error { return second(hetero.UncorrelatedRisk(good, half, -1)) }},
		{"noise", func() error { return second(hetero.Turbo(good, inf)) }},
		{"categories", func() error { return second(hetero.PACFactor(0, 0.1)) }},
		{"categories", func() error { return second(hetero.MSEFactor(0)) }},
		{"beta", func() error { return second(hetero.PACFactor(1, 1)) }},
		{"beta", func() error { return second(hetero.PACFactor(1, nan)) }},
		{"categories", func() error { return second(hetero.NewHistogram(good, half, 1)) }},
		{"categories", func() error { return second(hetero.NewHistogram(good, half, math.MaxInt)) }},
		{"categories", func() error { return second(hetero.NewLocal(good, half, 0)) }},
		{"categories", func() error { return second(hetero.NewSampling(good, 1, 0)) }},
		{"threshold", func() error { return second(hetero.NewSampling(good, inf, 1)) }},
		{"threshold", func() error { return second(hetero.NewSampling(good, 1000, 1)) }},
		{"threshold", func() error { return second(hetero.NewSampling(good, nan, 1)) }},
		{"values", func() error { return second(mean.Estimate([]float64{1}, rng)) }},
		{"values[1]", func() error { return second(mean.Estimate([]float64{1, nan}, rng)) }},
		{"values[0]", func() error { return second(mean.Estimate([]float64{1.5, 0}, rng)) }},
		{"values[0]", func() error { return second(histogram.Estimate([]int{3, 0}, rng)) }},
		{"values", func() error { return second(histogram.Estimate([]int{1, 0, 2}, rng)) }},
		{"values[1]", func() error { return second(localMean.Mean([]float64{1, -1}, rng)) }},
		{"values[1]", func() error { return second(localHistogram.Histogram([]int{1, -1}, rng)) }},
		{"values[1]", func() error { return second(sampledMean.Mean([]float64{1, inf}, rng)) }},
		{"values[1]", func() error { return second(sampledHistogram.Histogram([]int{1, 3}, rng)) }},
		{"categories", func() error { return second(localMean.Histogram([]int{0, 0}, rng)) }},
		{"categories", func() error { return second(localHistogram.Mean([]float64{0, 0}, rng)) }},
		{"categories", func() error { return second(sampledMean.Histogram([]int{0, 0}, rng)) }},
		{"categories", func() error { return second(sampledHistogram.Mean([]float64{0, 0}, rng)) }},
	} {
		var bad *fl.ParamError
		if err := c.call(); !errors.As(err, &bad) {
			t.Errorf("%s: got error %v, want a *fl.ParamError", c.param, err)
		} else if bad.Param != c.param {
			t.Errorf("got %v, want it to name %s", err, c.param)
		}
	}
}
