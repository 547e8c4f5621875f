package hetero_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

func TestMeanMoments(t *testing.T) {
	eps, reals, categories := group()
	w := must(hetero.Saturating(eps))
	m, rng := must(hetero.NewMean(eps, w)), newRand()
	mean, _ := averages(w, reals, categories)
	v := scale(w, eps)
	requireMoments(t, "mean", []float64{mean}, []float64{2 * v * v}, func() []float64 {
		return []float64{must(m.Estimate(reals, rng))}
	})
	requireClose(t, "StdDev", m.StdDev(), math.Sqrt2*v, 1e-9)
}

func TestMeanOfPublicDataIsExact(t *testing.T) {
	eps := []float64{inf, inf, 1}
	m := must(hetero.NewMean(eps, hetero.Weights{0.25, 0.75, 0}))
	requireClose(t, "mean", must(m.Estimate([]float64{1, 0.5, 0}, newRand())), 0.625, 1e-15)
	requireClose(t, "StdDev", m.StdDev(), 0, 0)
	if free := m.FreePrivacy(); free[0] != inf || free[2] != 0 {
		t.Errorf("free privacy %v, want +Inf for data published as it is and 0 for what is left out", free)
	}
}

func TestMeanIsClamped(t *testing.T) {
	m, rng := must(hetero.NewMean([]float64{1e-6}, hetero.Weights{1})), newRand()
	seen := map[float64]int{}
	for range 100 {
		seen[must(m.Estimate([]float64{0.5}, rng))]++
	}
	// The noise is in [−1/2, 1/2] with probability 5e−7; one side is empty with 2^−99.
	if seen[0]+seen[1] != 100 || seen[0] == 0 || seen[1] == 0 {
		t.Errorf("estimates %v, want 0 and 1", seen)
	}
}

// FreePrivacy is w_i/‖w/ε‖_∞, never above ε.
func TestFreePrivacy(t *testing.T) {
	rng := newRand()
	for range 200 {
		eps := demands(rng, 1+rng.IntN(8))
		w := must(hetero.Uncorrelated(eps, 1))
		v := scale(w, eps)
		for i, e := range must(hetero.NewMean(eps, w)).FreePrivacy() {
			if e > eps[i] {
				t.Errorf("ε = %v: client %d gets %g", eps, i, e)
			}
			if v > 0 {
				// A grid unit is at most 2^−44 of v, so worth 2^−44 in ε: of the client's own, and
				// of the smallest one, which sets the noise.
				if want := w[i] / v; math.Abs(e-want) > 0x1p-44*(2+want/floats.Min(eps)) {
					t.Errorf("ε = %v: client %d gets %g, want %g", eps, i, e, want)
				}
			}
		}
	}
}

// Changing the arguments afterwards changes nothing.
func TestNewMeanCopies(t *testing.T) {
	eps, w := []float64{1, 2}, hetero.Weights{0.5, 0.5}
	m := must(hetero.NewMean(eps, w))
	eps[0], w[0] = 1e-9, 0
	if free := m.FreePrivacy(); math.Abs(free[0]-1) > 1e-9 {
		t.Errorf("free privacy %v after a change of the arguments, want 1 for both", free)
	}
}

func TestHistogramMoments(t *testing.T) {
	eps, reals, categories := group()
	w := must(hetero.Saturating(eps))
	h, rng := must(hetero.NewHistogram(eps, w, 3)), newRand()
	_, frequencies := averages(w, reals, categories)
	v := 2 * scale(w, eps)
	variance := []float64{2 * v * v, 2 * v * v, 2 * v * v}
	requireMoments(t, "histogram", frequencies, variance, func() []float64 {
		return must(h.Estimate(categories, rng))
	})
}

func TestHistogramIsClamped(t *testing.T) {
	h, rng := must(hetero.NewHistogram([]float64{1e-6}, hetero.Weights{1}, 2)), newRand()
	for range 50 {
		for _, f := range must(h.Estimate([]int{1}, rng)) {
			if f < 0 || f > 1 {
				t.Errorf("frequency %g", f)
			}
		}
	}
}

// draws is the number of estimates behind every moment.
const draws = 20000

// requireMoments compares the mean and the variance of each coordinate of draw
// with the true ones. A mean is off by more than 6 of its standard deviations
// with probability 2e−9. The sample variance has the variance
// (kurtosis−1)/draws, relative to its square: 5/draws for the Laplace law, less for
// the others here; 7 standard deviations leave room for its tail. All tests of the
// package make some 50 such comparisons: below 1e−5 in all.
func requireMoments(t *testing.T, what string, mean, variance []float64, draw func() []float64) {
	t.Helper()
	sum, squares := make([]float64, len(mean)), make([]float64, len(mean))
	for range draws {
		for j, x := range draw() {
			sum[j] += x - mean[j]
			squares[j] += (x - mean[j]) * (x - mean[j])
		}
	}
	for j := range mean {
		if z := sum[j] / math.Sqrt(draws*variance[j]); !(math.Abs(z) <= 6) {
			t.Errorf("%s: mean %d is %g standard deviations off", what, j, z)
		}
		if ratio := squares[j] / draws / variance[j]; !(math.Abs(ratio-1) <= 7*math.Sqrt(5./draws)) {
			t.Errorf("%s: variance %d is %g times the true one", what, j, ratio)
		}
	}
}

// group is a data set for the estimators: the mean, the frequencies and the noise
// are such that clamping is rarer than once in 10^12 estimates.
func group() (eps, reals []float64, categories []int) {
	for i := range 200 {
		eps = append(eps, []float64{2, 3, 6, inf}[i%4])
		reals = append(reals, float64(i%10)/10+0.05)
		categories = append(categories, []int{0, 1, 0, 2, 1}[i%5])
	}
	return eps, reals, categories
}

// averages returns Σ f_i·x_i/Σ f_i for the numbers and each category.
func averages(f, reals []float64, categories []int) (mean float64, frequencies []float64) {
	frequencies = make([]float64, 3)
	total := 0.
	for i, x := range f {
		total += x
		mean += x * reals[i]
		frequencies[categories[i]] += x
	}
	for j := range frequencies {
		frequencies[j] /= total
	}
	return mean / total, frequencies
}

// Without a generator estimates are drawn from a fresh one: two means agree with probability
// below 1e-12, the noise has some 2^44 values.
func TestNilRandIsFresh(t *testing.T) {
	eps, w := []float64{8, 8}, hetero.Weights{0.5, 0.5}
	mean, histogram := must(hetero.NewMean(eps, w)), must(hetero.NewHistogram(eps, w, 2))
	local, sampling := must(hetero.NewLocal(eps, w, 1)), must(hetero.NewSampling(eps, 8, 1))
	localBits, sampledBits := must(hetero.NewLocal(eps, w, 2)), must(hetero.NewSampling(eps, 8, 2))
	reals, categories := []float64{0.5, 0.5}, []int{0, 1}
	if a, b := must(mean.Estimate(reals, nil)), must(mean.Estimate(reals, nil)); a == b && a != 0 && a != 1 {
		t.Errorf("two means are %g", a)
	}
	for what, values := range map[string][]float64{
		"histogram": must(histogram.Estimate(categories, nil)), "local histogram": must(localBits.Histogram(categories, nil)),
		"sampled histogram": must(sampledBits.Histogram(categories, nil)),
		"means":             {must(local.Mean(reals, nil)), must(sampling.Mean(reals, nil))},
	} {
		if len(values) != 2 {
			t.Errorf("%s: %v", what, values)
		}
	}
}
