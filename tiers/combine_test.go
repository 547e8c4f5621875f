package tiers_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/tiers"
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
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Fatalf("%s: got %.17g, want %.17g", what, got, want)
	}
}

// groups draws m groups with variances over 10 orders of magnitude, some of them 0
// or +Inf, some shares 0.
func groups(rng *rand.Rand, m int) []tiers.Group {
	all, sum := make([]tiers.Group, m), 0.
	for i := range all {
		all[i] = tiers.Group{Share: rng.ExpFloat64(), Variance: math.Pow(10, -5+10*rng.Float64())}
		switch u := rng.IntN(12); {
		case u == 0 && i > 0:
			all[i].Variance = inf
		case u == 1:
			all[i].Variance = 0
		case u == 2 && i > 0:
			all[i].Share = 0
		case u == 3 && i > 0:
			all[i].Variance = all[i-1].Variance
		}
		sum += all[i].Share
	}
	all[0].Variance = min(all[0].Variance, 1e5)
	for i := range all {
		all[i].Share /= sum
	}
	return all
}

func objective(all []tiers.Group, w []float64, radius float64) float64 {
	variance, distance := 0., 0.
	for i, t := range all {
		if w[i] > 0 {
			variance += w[i] * w[i] * t.Variance
		}
		distance += math.Abs(w[i] - t.Share)
	}
	return variance + radius*radius*distance*distance
}

// minimum is a golden section of a convex function on [0, 1] that also looks at
// the given points, where a minimum may be a jump.
func minimum(f func(float64) float64, points ...float64) float64 {
	const golden = 0.6180339887498949
	best := inf
	for _, x := range append(points, 0, 1) {
		best = min(best, f(x))
	}
	lo, hi := 0., 1.
	a, b := hi-golden, lo+golden
	fa, fb := f(a), f(b)
	for range 60 {
		best = min(best, fa, fb)
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		}
	}
	return best
}

func TestCombineMatchesBruteForce(t *testing.T) {
	rng := newRand()
	for trial := range 200 {
		all, radius := groups(rng, 2+trial%2), math.Pow(10, -4+8*rng.Float64())
		for i := range all {
			// +Inf would leave golden section without a slope.
			all[i].Variance = min(all[i].Variance, 1e12)
		}
		if trial%10 == 0 {
			radius = 0
		}
		c := must(tiers.Combine(all, radius))
		got := objective(all, c.Weights, radius)
		want := minimum(func(x float64) float64 {
			if len(all) == 2 {
				return objective(all, []float64{x, 1 - x}, radius)
			}
			return minimum(func(y float64) float64 {
				return objective(all, []float64{x, (1 - x) * y, (1 - x) * (1 - y)}, radius)
			}, all[1].Share/(1-x))
		}, all[0].Share)
		// Golden section stops at 1e−12; a weight of variance 1e12 may cost 1e−12.
		if math.Abs(got-want) > 1e-6*want+1e-11 {
			t.Errorf("%v, radius %g: weights %v have objective %.12g, want %.12g", all, radius, c.Weights, got, want)
		}
	}
}

func TestCombineIsNeverWorse(t *testing.T) {
	rng := newRand()
	for trial := range 2000 {
		m := 1 + rng.IntN(12)
		all, radius := groups(rng, m), math.Pow(10, -6+12*rng.Float64())
		if trial%10 == 0 {
			radius = 0
		}
		c := must(tiers.Combine(all, radius))
		got := objective(all, c.Weights, radius)
		what := fmt.Sprintf("%v, radius %g", all, radius)
		requireClose(t, what+": sum", floats.Sum(c.Weights), 1, 1e-14)
		requireClose(t, what+": reported", c.Variance+c.Bias*c.Bias, got, 1e-12)
		largest := 0.
		shares := make([]float64, m)
		for i, tier := range all {
			shares[i] = tier.Share
			if tier.Variance < inf {
				largest = max(largest, tier.Variance)
			}
		}
		// The floor under variances, and the rounding of the weights' sum.
		slack := 1e-29*largest + 1e-29*radius*radius
		for i := range all {
			single := make([]float64, m)
			single[i] = 1
			if other := objective(all, single, radius); got > other*(1+1e-12)+slack {
				t.Fatalf("%s: objective %g, of tier %d alone %g", what, got, i, other)
			}
			// A step towards anything else does not help a convex objective.
			for _, step := range []float64{1e-6, 1e-3, 0.1} {
				other := make([]float64, m)
				floats.AddScaledTo(other, single, -1, single)
				floats.AddScaled(other, 1-step, c.Weights)
				other[i] += step
				if o := objective(all, other, radius); got > o*(1+1e-12)+slack {
					t.Fatalf("%s: objective %g, after a step of %g to tier %d %g", what, got, step, i, o)
				}
			}
		}
		if other := objective(all, shares, radius); got > other*(1+1e-12)+slack {
			t.Fatalf("%s: objective %g, of the shares %g", what, got, other)
		}
	}
}

func TestCombineByHand(t *testing.T) {
	all := []tiers.Group{{Share: 0.5, Variance: 1}, {Share: 0.25, Variance: 4}, {Share: 0.25, Variance: inf}}
	for _, c := range []struct {
		radius float64
		want   []float64
	}{
		{0, []float64{0.8, 0.2, 0}},
		// The third tier's quarter must move. It all goes to the first, up to the
		// point where W₁·1 = W₂·4, at 0.25 = 1/4; the penalty keeps the second tier.
		{10, []float64{0.75, 0.25, 0}},
		{1e150, []float64{0.75, 0.25, 0}},
	} {
		got := must(tiers.Combine(all, c.radius))
		for i := range c.want {
			requireClose(t, fmt.Sprintf("radius %g, weight %d", c.radius, i), got.Weights[i], c.want[i], 1e-14)
		}
	}
	got := must(tiers.Combine([]tiers.Group{{Share: 1, Variance: inf}, {Variance: 1}, {Variance: 3}}, 2))
	requireClose(t, "a tier without a mean", got.Weights[1], 0.75, 1e-15)
	requireClose(t, "its bias", got.Bias, 4, 1e-15)
	got = must(tiers.Combine([]tiers.Group{{Share: 0.25}, {Share: 0.75}}, 1))
	requireClose(t, "exact tiers", got.Weights[0], 0.25, 1e-15)
	got = must(tiers.Combine([]tiers.Group{{Share: 0.25}, {Share: 0.75, Variance: 1}}, 0))
	requireClose(t, "an exact tier among exchangeable ones", got.Weights[0], 1, 1e-15)
}

func TestCombineRefuses(t *testing.T) {
	good := tiers.Group{Share: 1, Variance: 1}
	for _, c := range []struct {
		param  string
		tiers  []tiers.Group
		radius float64
	}{
		{"tiers", nil, 0},
		{"tiers", []tiers.Group{{Share: 0.5, Variance: 1}}, 0},
		{"tiers", []tiers.Group{{Share: 1, Variance: inf}}, 0},
		{"tiers[0].Share", []tiers.Group{{Share: math.NaN(), Variance: 1}}, 0},
		{"tiers[1].Share", []tiers.Group{good, {Share: -1, Variance: 1}}, 0},
		{"tiers[0].Variance", []tiers.Group{{Share: 1, Variance: math.NaN()}}, 0},
		{"tiers[0].Variance", []tiers.Group{{Share: 1, Variance: -1}}, 0},
		{"radius", []tiers.Group{good}, -1},
		{"radius", []tiers.Group{good}, math.NaN()},
		{"radius", []tiers.Group{good}, inf},
	} {
		var bad *fl.ParamError
		if _, err := tiers.Combine(c.tiers, c.radius); !errors.As(err, &bad) || bad.Param != c.param {
			t.Errorf("%v, radius %g: got error %v, want it to name %s", c.tiers, c.radius, err, c.param)
		}
	}
}
