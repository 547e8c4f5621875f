package demands

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// population is clients with a demand and a value each: a category, or a number in [0, 1].
type population struct {
	eps        []float64
	values     []int     // nil for numbers
	reals      []float64 // nil for categories
	categories int       // 1 for numbers
	truth      []float64 // the histogram, or the mean alone
}

// ofCategories is a population with a histogram. Both slices are kept.
func ofCategories(eps []float64, values []int, categories int) *population {
	p := &population{eps: eps, values: values, categories: categories, truth: make([]float64, categories)}
	for _, c := range values {
		p.truth[c] += 1 / float64(len(values))
	}
	return p
}

// ofNumbers is a population with a mean. Both slices are kept.
func ofNumbers(eps, reals []float64) *population {
	return &population{eps: eps, reals: reals, categories: 1, truth: []float64{stat.Mean(reals, nil)}}
}

// cumulative returns the inverse distribution function of categories with the given weights.
func cumulative(weights []float64) func(u float64) int {
	ends, sum := make([]float64, len(weights)), 0.
	for i, w := range weights {
		sum += w
		ends[i] = sum
	}
	return func(u float64) int {
		i, _ := slices.BinarySearch(ends, u*sum)
		return min(i, len(ends)-1)
	}
}

// triangle has weights in proportion to 1, 2, …, k.
func triangle(k int) []float64 {
	w := make([]float64, k)
	for i := range w {
		w[i] = float64(i + 1)
	}
	return w
}

// equal has k equal weights.
func equal(k int) []float64 { return slices.Repeat([]float64{1}, k) }

// peaked has the weights of a binomial variable with k values and probability ½.
func peaked(k int) []float64 {
	w := make([]float64, k)
	w[0] = math.Exp2(1 - float64(k))
	for i := 1; i < k; i++ {
		w[i] = w[i-1] * float64(k-i) / float64(i)
	}
	return w
}
