package keyvalues

import (
	"math"
	"math/rand/v2"
)

// law is how the synthetic data of the PCKV paper is drawn.
type law string

const (
	// uniformLaw has uniform keys, and the mean of a key uniform on [−1, 1].
	uniformLaw law = "uniform"
	// gaussianLaw has the key 1, 2, … of a client from N(0, 50²), rounded, and the mean of a key from
	// N(0, 1). What falls outside the keys or outside [−1, 1] is drawn again, so that the first
	// key is the most frequent one.
	gaussianLaw law = "Gaussian"
)

const (
	sigmaKey  = 50
	sigmaMean = 1
)

// singles is clients who each hold one key, with the value that all its holders have.
type singles struct {
	holders []int     // of each key
	mean    []float64 // value of each key
	size    int       // clients
}

func newSingles(by law, clients, dim int, rng *rand.Rand) *singles {
	p := &singles{holders: make([]int, dim), mean: make([]float64, dim), size: clients}
	for k := range p.mean {
		p.mean[k] = 2*rng.Float64() - 1
		if by == gaussianLaw {
			for p.mean[k] = 2; math.Abs(p.mean[k]) > 1; {
				p.mean[k] = sigmaMean * rng.NormFloat64()
			}
		}
	}
	for range clients {
		key := rng.IntN(dim)
		if by == gaussianLaw {
			for key = -1; key < 0 || key >= dim; {
				key = int(math.Round(sigmaKey*rng.NormFloat64())) - 1
			}
		}
		p.holders[key]++
	}
	return p
}

// truth are the true frequencies and means.
func (p *singles) truth() *truth {
	t := &truth{frequency: make([]float64, len(p.holders)), mean: p.mean}
	for k, n := range p.holders {
		t.frequency[k] = float64(n) / float64(p.size)
	}
	return t.ranked()
}

func (p *singles) clients() int { return p.size }

// send implements crowd for the padding length 1. O(dim).
func (p *singles) send(_ int, rng *rand.Rand) (plus, minus []int) {
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
