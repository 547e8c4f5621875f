package demands

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// law is how a data set and its demands are drawn: one group of rows.
type law struct {
	name       string // of the rows
	set        string // what the paper calls the data
	what       string // the law, for the notes
	correlated bool
	clients    int
	categories int  // 1 for numbers
	curve      bool // whether the distribution function of the errors is drawn
	draw       func(rng *rand.Rand) *population
	paper      map[measure]row // nil: the paper has no such rows
}

// mean is true where the clients have numbers.
func (l law) mean() bool { return l.categories == 1 }

// The paper's data sets that are no synthetic ones.
const (
	salarySet = "UC salaries"
	cancerSet = "Cancer types"
	// carefulSet is none of the paper's. Its demands are at most 1, as the two-sided bound's demands are.
	carefulSet = "ε ≤ 1"
)

// The sizes of the paper's sets.
const (
	syntheticSize = 10_000
	cancerSize    = 17_000
	salarySize    = 50_000
)

// skewed is a stand-in for the share of each salary bin.
var skewed = []float64{.188, .186, .14, .106, .084, .067, .056, .047, .040, .034, .029, .025}

// salaryDemand is the paper's law of the demand in bin 1, …, 12.
func salaryDemand(bin int, rng *rand.Rand) float64 {
	return math.Exp(-math.Abs(float64(bin)-6.5) + 6*rng.Float64() - 3)
}

// logUniform draws n demands whose logarithm is uniform in [−r, r].
func logUniform(n int, r float64, rng *rand.Rand) []float64 {
	eps := make([]float64, n)
	for i := range eps {
		eps[i] = math.Exp(r * (2*rng.Float64() - 1))
	}
	return eps
}

// independent draws categories that have nothing to do with the demands.
func independent(n int, r float64, weights []float64, rng *rand.Rand) *population {
	values, category := make([]int, n), cumulative(weights)
	for i := range values {
		values[i] = category(rng.Float64())
	}
	return ofCategories(logUniform(n, r, rng), values, len(weights))
}

func salaries(weights []float64, rng *rand.Rand) *population {
	eps, values, bin := make([]float64, salarySize), make([]int, salarySize), cumulative(weights)
	for i := range eps {
		values[i] = bin(rng.Float64())
		eps[i] = salaryDemand(values[i]+1, rng)
	}
	return ofCategories(eps, values, len(weights))
}

// histogramLaws are the rows of Table 4.
func histogramLaws() []law {
	all := []law{
		{
			name: "UC salaries, skewed bins", set: salarySet, correlated: true, curve: true, clients: salarySize, categories: 12, paper: salaryRows,
			what: "12 bins with shares that fall from 19 % to 2.5 %, ln ε = −|bin − 6.5| + uniform in [−3, 3]",
			draw: func(rng *rand.Rand) *population { return salaries(skewed, rng) },
		},
		{
			name: "UC salaries, equal bins", set: salarySet, correlated: true, clients: salarySize, categories: 12, paper: salaryRows,
			what: "the same with equal bins",
			draw: func(rng *rand.Rand) *population { return salaries(equal(12), rng) },
		},
	}
	for _, k := range []int{5, 20} {
		for _, d := range readings {
			all = append(all, law{
				name: fmt.Sprintf("correlated, k = %d, %s", k, d), set: synthetic(k), correlated: true, clients: syntheticSize, categories: k, paper: correlatedRows[k],
				draw: func(rng *rand.Rand) *population { return d.draw(syntheticSize, k, rng) },
			})
		}
	}
	all = append(all, law{
		name: "Cancer types", set: cancerSet, curve: true, clients: cancerSize, categories: 10, paper: cancerRows,
		what: "17 000 clients, ten equally frequent types, ln ε uniform in [−5, 5]",
		draw: func(rng *rand.Rand) *population { return independent(cancerSize, 5, equal(10), rng) },
	})
	for _, k := range []int{5, 20} {
		all = append(all, law{
			name: fmt.Sprintf("uncorrelated, k = %d", k), set: synthetic(k), clients: syntheticSize, categories: k, paper: uncorrelatedRows[k],
			what: fmt.Sprintf("binomial(%d, ½) categories, ln ε uniform in [−6, 6]", k-1),
			draw: func(rng *rand.Rand) *population { return independent(syntheticSize, 6, peaked(k), rng) },
		})
	}
	return append(all, law{
		name: "ε ≤ 1, k = 5", set: carefulSet, clients: syntheticSize, categories: 5,
		what: "ours: equally frequent categories, ln ε uniform in [−4, 0]",
		draw: func(rng *rand.Rand) *population {
			p := independent(syntheticSize, 2, equal(5), rng)
			floats.Scale(math.Exp(-2), p.eps)
			return p
		},
	})
}

func synthetic(k int) string { return fmt.Sprintf("(10000, %d)", k) }

// meanLaws are the rows of Table 5.
func meanLaws() []law {
	return []law{
		{
			name: "UC salaries", set: salarySet, correlated: true, clients: salarySize, categories: 1, paper: salaryMeanRows,
			what: "lognormal salaries with a standard deviation of 1 of the logarithm, over the largest; the demands follow the bin, and the bins' shares fall from 19 % to 2.5 %",
			draw: salaryMean,
		},
		{
			name: "correlated, overlapping", set: "10000", correlated: true, clients: syntheticSize, categories: 1, paper: correlatedMeanRows,
			what: "normal values around ½ with standard deviation 0.1, ln ε uniform in windows of half of [−4.5, 4.5] that move with the rank of the value",
			draw: func(rng *rand.Rand) *population {
				return bell(rng, func(rank, u, _ float64) float64 { return rank/2 + u/2 })
			},
		},
		{
			name: "correlated, weak", set: "10000", correlated: true, clients: syntheticSize, categories: 1, paper: correlatedMeanRows,
			what: "the same values; one client in ten has the ε of its rank, the others any in [−4.5, 4.5]",
			draw: func(rng *rand.Rand) *population {
				return bell(rng, func(rank, u, coin float64) float64 {
					if coin < 0.1 {
						return rank
					}
					return u
				})
			},
		},
		{
			name: "uncorrelated", set: "10000", clients: syntheticSize, categories: 1, paper: uncorrelatedMeanRows,
			what: "the same values, ln ε uniform in [−4.5, 4.5]",
			draw: func(rng *rand.Rand) *population {
				return bell(rng, func(_, u, _ float64) float64 { return u })
			},
		},
	}
}

// salaryMean draws lognormal salaries. The bins cut them at the shares of skewed.
func salaryMean(rng *rand.Rand) *population {
	eps, reals := make([]float64, salarySize), make([]float64, salarySize)
	for i := range reals {
		reals[i] = math.Exp(rng.NormFloat64())
	}
	slices.Sort(reals)
	largest, bin := reals[len(reals)-1], cumulative(skewed)
	for i := range reals {
		eps[i] = salaryDemand(bin((float64(i)+0.5)/salarySize)+1, rng)
		reals[i] /= largest
	}
	return ofNumbers(eps, reals)
}

// bell draws numbers around ½, in ascending order. place returns where in its range ln ε is,
// in [0, 1], from the rank of the number in [0, 1] and two uniform variables.
func bell(rng *rand.Rand, place func(rank, u, coin float64) float64) *population {
	const r = 4.5
	eps, reals := make([]float64, syntheticSize), make([]float64, syntheticSize)
	for i := range reals {
		reals[i] = min(1, max(0, 0.5+0.1*rng.NormFloat64()))
	}
	slices.Sort(reals)
	for i := range eps {
		eps[i] = math.Exp(r * (2*place((float64(i)+0.5)/syntheticSize, rng.Float64(), rng.Float64()) - 1))
	}
	return ofNumbers(eps, reals)
}
