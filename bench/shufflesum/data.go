package shufflesum

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/hdsum"
)

// distribution is a law of integers in {1, …, U}.
type distribution struct {
	name string
	// weights returns the weights of 1, 2, …, in proportion to probabilities. Integers beyond
	// its end have no weight.
	weights func(bound int64) []float64
}

// population is clients that are counted by their input, in ascending order.
type population []hdsum.Count

// draw draws n clients: the number of clients with 1, then of those left the number with 2,
// and so on. O(weights), whatever n.
func (d distribution) draw(n int, bound int64, rng *rand.Rand) population {
	weights := d.weights(bound)
	rest := make([]float64, len(weights)+1) // from each value on
	for i := len(weights) - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + weights[i]
	}
	var p population
	for i, left := 0, int64(n); i < len(weights) && left > 0; i++ {
		count := left
		if share := weights[i] / rest[i]; rest[i+1] > 0 && share < 1 {
			count = 0
			if share > 0 {
				count = int64(distuv.Binomial{N: float64(left), P: share, Src: rng}.Rand())
			}
		}
		if count > 0 {
			p = append(p, hdsum.Count{Value: int64(i) + 1, Clients: count})
			left -= count
		}
	}
	return p
}

func (p population) clients() int {
	n := int64(0)
	for _, c := range p {
		n += c.Clients
	}
	return int(n)
}

func (p population) total() float64 {
	var sum float64
	for _, c := range p {
		sum += float64(c.Value) * float64(c.Clients)
	}
	return sum
}

// largest returns the k-th largest input, 0 if there are fewer than k clients.
func (p population) largest(k int64) int64 {
	for i := len(p) - 1; i >= 0; i-- {
		if k -= p[i].Clients; k <= 0 {
			return p[i].Value
		}
	}
	return 0
}

// clipped returns the population with inputs of at most bound.
func (p population) clipped(bound int64) population {
	var out population
	for _, c := range p {
		if c.Value < bound {
			out = append(out, c)
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Value == bound {
			out[last].Clients += c.Clients
			continue
		}
		out = append(out, hdsum.Count{Value: bound, Clients: c.Clients})
	}
	return out
}

// zipf has f(x) ∝ (x+1)^−a on {1, …, U}. The relative errors that the paper prints
// for mechanisms with known noise fit this support and not one that begins at 0.
func zipf(a float64) distribution {
	return distribution{
		name: fmt.Sprintf("Zipf a=%g", a),
		weights: func(bound int64) []float64 {
			weights := make([]float64, bound)
			for i := range weights {
				weights[i] = math.Pow(float64(i+2), -a)
			}
			return weights
		},
	}
}

// outside is what becomes of a normal variable below ½ or above U + ½. The paper says only
// that its data are "over [U]".
type outside uint8

const (
	clamped   outside = iota // it is 1 or U
	discarded                // it is drawn again
)

func (o outside) String() string { return [...]string{"clamped", "discarded"}[o] }

// gauss is a normal variable, rounded to {1, …, U}.
func gauss(mean, deviation float64, o outside) distribution {
	return distribution{
		name: fmt.Sprintf("Gauss μ=%g σ=%g, %s", mean, deviation, o),
		weights: func(bound int64) []float64 {
			law := distuv.Normal{Mu: mean, Sigma: deviation}
			// Nothing that a float64 can hold is further away than 40 deviations.
			top := int64(min(float64(bound), math.Ceil(mean+40*deviation)))
			weights := make([]float64, max(top, 1))
			for i := range weights {
				x := float64(i + 1)
				if x > mean {
					weights[i] = law.Survival(x-0.5) - law.Survival(x+0.5)
				} else {
					weights[i] = law.CDF(x+0.5) - law.CDF(x-0.5)
				}
			}
			if o == clamped {
				weights[0] += law.CDF(0.5)
				weights[len(weights)-1] += law.Survival(float64(len(weights)) + 0.5)
			}
			return weights
		},
	}
}
