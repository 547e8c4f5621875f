package shufflesum

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/internal/sample"
)

// distribution draws integers in {1, …, U}.
type distribution struct {
	name string
	draw func(n int, bound int64, rng *rand.Rand) ([]int64, error)
}

// zipf has f(x) ∝ (x+1)^−a on {1, …, U}. The relative errors that the paper prints
// for mechanisms with known noise fit this support and not one that begins at 0.
func zipf(a float64) distribution {
	return distribution{
		name: fmt.Sprintf("Zipf a=%g", a),
		draw: func(n int, bound int64, rng *rand.Rand) ([]int64, error) {
			weights := make([]float64, bound)
			for i := range weights {
				weights[i] = math.Pow(float64(i+2), -a)
			}
			alias, err := sample.NewAlias(weights)
			if err != nil {
				return nil, err
			}
			out := make([]int64, n)
			for i := range out {
				out[i] = int64(alias.Rand(rng)) + 1
			}
			return out, nil
		},
	}
}

// gauss is a normal variable, rounded and clamped to {1, …, U}.
func gauss(mean, deviation float64) distribution {
	return distribution{
		name: fmt.Sprintf("Gauss μ=%g σ=%g", mean, deviation),
		draw: func(n int, bound int64, rng *rand.Rand) ([]int64, error) {
			out := make([]int64, n)
			for i := range out {
				x := math.Round(mean + deviation*rng.NormFloat64())
				out[i] = int64(min(max(x, 1), float64(bound)))
			}
			return out, nil
		},
	}
}

func total(values []int64) float64 {
	var sum float64
	for _, x := range values {
		sum += float64(x)
	}
	return sum
}
