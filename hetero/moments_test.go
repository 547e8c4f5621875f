package hetero_test

import (
	"math"
	"testing"
)

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
