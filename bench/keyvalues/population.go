package keyvalues

import (
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
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

// newPopulation draws clients by the law of Section 8 of Wang et al.: the keys of a client are a
// uniformly random set of s keys, and each of its values is −1 or +1 with probability ½.
// O(clients·s·log s).
func newPopulation(clients, dim, sparsity int, rng *rand.Rand) *population {
	p := &population{
		dim: dim, sparsity: sparsity,
		index: make([]uint32, 0, clients*sparsity), sign: make([]int8, 0, clients*sparsity),
		held: make([]float64, dim), sum: make([]float64, dim),
	}
	// Fisher and Yates: the first s places of a permutation, which goes on from client to client.
	keys := make([]uint32, dim)
	for k := range keys {
		keys[k] = uint32(k)
	}
	for range clients {
		for i := range sparsity {
			j := i + rng.IntN(dim-i)
			keys[i], keys[j] = keys[j], keys[i]
		}
		own := len(p.index)
		p.index = append(p.index, keys[:sparsity]...)
		slices.Sort(p.index[own:])
		for _, k := range p.index[own:] {
			value := int8(2*rng.IntN(2) - 1)
			p.sign = append(p.sign, value)
			p.held[k]++
			p.sum[k] += float64(value)
		}
	}
	for k := range dim {
		p.held[k] /= float64(clients)
		p.sum[k] /= float64(clients)
	}
	return p
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

// send implements crowd for padding lengths up to s, which leave no dummies. O(clients).
func (p *population) send(_ int, rng *rand.Rand) (plus, minus []int) {
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
