package keyvalues

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The synthetic data of the PCKV paper: keys are uniform, or Gaussian around the middle.
const (
	uniformKeys = iota
	gaussianKeys
)

var distributions = [...]string{uniformKeys: "uniform", gaussianKeys: "Gaussian"}

const (
	sigmaKey  = 50
	sigmaMean = 1
)

// singles is clients who each hold one key, with the value that all its holders have.
type singles struct {
	holders []int     // of each key
	mean    []float64 // value of each key
	clients int
	held    []int // the keys that have holders, the most frequent first
}

// newSingles draws the key of every client, and the value of every key from a Gaussian of
// mean 0; what falls outside the keys or outside [−1, 1] is drawn again.
func newSingles(distribution, clients, dim int, rng *rand.Rand) *singles {
	p := &singles{holders: make([]int, dim), mean: make([]float64, dim), clients: clients}
	for k := range p.mean {
		for p.mean[k] = 2; math.Abs(p.mean[k]) > 1; {
			p.mean[k] = sigmaMean * rng.NormFloat64()
		}
	}
	for range clients {
		key := rng.IntN(dim)
		if distribution == gaussianKeys {
			for key = -1; key < 0 || key >= dim; {
				key = int(math.Round(float64(dim)/2 + sigmaKey*rng.NormFloat64()))
			}
		}
		p.holders[key]++
	}
	for k, n := range p.holders {
		if n > 0 {
			p.held = append(p.held, k)
		}
	}
	slices.SortStableFunc(p.held, func(a, b int) int { return cmp.Compare(p.holders[b], p.holders[a]) })
	return p
}

// send implements crowd. O(dim).
func (p *singles) send(rng *rand.Rand) (plus, minus []int) {
	return p.round(p.holders, rng)
}

// ask implements crowd. O(clients).
func (p *singles) ask(rng *rand.Rand) (plus, minus, absent []int) {
	dim := len(p.holders)
	held, absent := make([]int, dim), make([]int, dim)
	for own, holders := range p.holders {
		for range holders {
			if key := int(rng.Uint32N(uint32(dim))); key == own {
				held[key]++
			} else {
				absent[key]++
			}
		}
	}
	plus, minus = p.round(held, rng)
	return plus, minus, absent
}

// round rounds the values of the holders of each key to + and −.
func (p *singles) round(holders []int, rng *rand.Rand) (plus, minus []int) {
	plus, minus = make([]int, len(holders)), make([]int, len(holders))
	for k, n := range holders {
		plus[k] = binomial(rng, n, (1+p.mean[k])/2)
		minus[k] = n - plus[k]
	}
	return plus, minus
}

// scope is a set of keys that errors are averaged over.
type scope struct {
	name string
	top  int // number of keys, the most frequent ones; 0: all
}

var scopes = []scope{{"all keys", 0}, {fmt.Sprintf("top %d", topKeys), topKeys}}

const topKeys = 20

// keys are the keys of the scope that at least one client holds.
func (s scope) keys(p *singles) []int {
	if s.top == 0 {
		return p.held
	}
	return p.held[:min(s.top, len(p.held))]
}
