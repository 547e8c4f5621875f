package keyvalues

import (
	"math"

	"github.com/hushgrad/hushgrad/keyvalue/pckv"
)

// theory is what Theorem 4 of the PCKV paper says about a mean squared error over keys;
// the zero value is for mechanisms it says nothing about.
type theory struct {
	mse float64
	// spread is the standard deviation of the measured average over the repeats,
	// relative to mse, for errors that are Gaussian and independent between keys.
	spread float64
}

// expected averages the theorem over the keys of a scope. For means the theorem takes the
// signs as given: the variance of rounding the values to signs is added. The sum is at
// most the largest squared error that an estimate in [−1, 1] has: for rare keys the
// theorem's approximation is far above it.
func (at *point) expected(p *singles, quantity int, s scope, repeats int) (theory, error) {
	name := rivals[at.rival].name
	if !isPCKV(name) {
		return theory{}, nil
	}
	c, err := channelOf(pckv.Optimized, name, at.epsilon, at.dim, 1)
	if err != nil {
		return theory{}, err
	}
	sum, squares, n := 0.0, 0.0, float64(p.clients)
	keys := s.keys(p)
	for _, k := range keys {
		f, m := float64(p.holders[k])/n, p.mean[k]
		v := c.FrequencyMSE(1, f, n)
		if quantity == mean {
			largest := 1 + math.Abs(m)
			v = min(c.MeanMSE(1, f, m, n)+(1-m*m)/float64(p.holders[k]), largest*largest)
		}
		sum += v
		squares += v * v
	}
	return theory{mse: sum / float64(len(keys)), spread: math.Sqrt(2*squares/float64(repeats)) / sum}, nil
}
