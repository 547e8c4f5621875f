package keyvalues

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// population is clients who each hold s keys with values ±1.
type population struct {
	dim, sparsity int
	// index are the keys of client i, in increasing order, from i·s on, and sign their
	// values.
	index []uint32
	sign  []int8
	// held and sum are the true frequency and unconditional mean of each key.
	held, sum []float64
}

// newPopulation draws clients: key k has popularity proportional to 1/√(k+1), and is
// positive with probability ½ + 0.4·cos k. The paper does not say how its vectors are
// drawn.
func newPopulation(clients, dim, sparsity int, rng *rand.Rand) (*population, error) {
	popularity, positive := make([]float64, dim), make([]float64, dim)
	for k := range popularity {
		popularity[k] = 1 / math.Sqrt(float64(k+1))
		positive[k] = 0.5 + 0.4*math.Cos(float64(k))
	}
	draw, err := sample.NewAlias(popularity)
	if err != nil {
		return nil, err
	}
	p := &population{
		dim: dim, sparsity: sparsity,
		index: make([]uint32, 0, clients*sparsity), sign: make([]int8, 0, clients*sparsity),
		held: make([]float64, dim), sum: make([]float64, dim),
	}
	has := make([]bool, dim)
	for range clients {
		for left := sparsity; left > 0; {
			if k := draw.Rand(rng); !has[k] {
				has[k] = true
				left--
			}
		}
		for k := range has {
			if !has[k] {
				continue
			}
			has[k] = false
			value := int8(-1)
			if rng.Float64() < positive[k] {
				value = 1
			}
			p.index, p.sign = append(p.index, uint32(k)), append(p.sign, value)
			p.held[k] += 1 / float64(clients)
			p.sum[k] += float64(value) / float64(clients)
		}
	}
	return p, nil
}

func (p *population) clients() int { return len(p.index) / p.sparsity }

// ternary returns the vector of a client.
func (p *population) ternary(client int) fl.Ternary {
	from, to := client*p.sparsity, (client+1)*p.sparsity
	return fl.Ternary{Dim: p.dim, Index: p.index[from:to:to], Sign: p.sign[from:to:to]}
}

// pairs appends the pairs of a client.
func (p *population) pairs(dst []fl.KeyValue, client int) []fl.KeyValue {
	for i := client * p.sparsity; i < (client+1)*p.sparsity; i++ {
		dst = append(dst, fl.KeyValue{Key: p.index[i], Value: float64(p.sign[i])})
	}
	return dst
}

// send implements crowd. O(clients).
func (p *population) send(rng *rand.Rand) (plus, minus []int) {
	plus, minus = make([]int, p.dim), make([]int, p.dim)
	for first := 0; first < len(p.index); first += p.sparsity {
		i := first + rng.IntN(p.sparsity)
		if p.sign[i] > 0 {
			plus[p.index[i]]++
		} else {
			minus[p.index[i]]++
		}
	}
	return plus, minus
}

// ask implements crowd. O(clients·log s).
func (p *population) ask(rng *rand.Rand) (plus, minus, absent []int) {
	plus, minus, absent = make([]int, p.dim), make([]int, p.dim), make([]int, p.dim)
	for first := 0; first < len(p.index); first += p.sparsity {
		key := rng.Uint32N(uint32(p.dim))
		at, held := slices.BinarySearch(p.index[first:first+p.sparsity], key)
		switch {
		case !held:
			absent[key]++
		case p.sign[first+at] > 0:
			plus[key]++
		default:
			minus[key]++
		}
	}
	return plus, minus, absent
}
