package keyvalues

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// population is users who each hold s keys with values ±1.
type population struct {
	dim, sparsity int
	pairs         [][]fl.KeyValue
	// held and sum are the true frequency and unconditional mean of each key.
	held, sum []float64
}

// newPopulation draws users: key k has popularity proportional to 1/√(k+1), and is
// positive with probability ½ + 0.4·cos k. The paper does not say how its vectors are
// drawn.
func newPopulation(users, dim, sparsity int, rng *rand.Rand) (*population, error) {
	popularity := make([]float64, dim)
	for k := range popularity {
		popularity[k] = 1 / math.Sqrt(float64(k+1))
	}
	draw, err := sample.NewAlias(popularity)
	if err != nil {
		return nil, err
	}
	p := &population{dim: dim, sparsity: sparsity, held: make([]float64, dim), sum: make([]float64, dim)}
	has := make([]bool, dim)
	for range users {
		for left := sparsity; left > 0; {
			if k := draw.Rand(rng); !has[k] {
				has[k] = true
				left--
			}
		}
		pairs := make([]fl.KeyValue, 0, sparsity)
		for k := range has {
			if !has[k] {
				continue
			}
			has[k] = false
			value := -1.0
			if rng.Float64() < 0.5+0.4*math.Cos(float64(k)) {
				value = 1
			}
			pairs = append(pairs, fl.KeyValue{Key: uint32(k), Value: value})
			p.held[k] += 1 / float64(users)
			p.sum[k] += value / float64(users)
		}
		p.pairs = append(p.pairs, pairs)
	}
	return p, nil
}
