package keyvalues

import (
	"math"
)

// theory is what Theorem 4 of the PCKV paper says about a mean squared error over keys; the zero value is
// for what it says nothing about.
type theory struct {
	mse float64
	// variance is the variance of the measured average of one round, for errors that are Gaussian and
	// independent between keys.
	variance float64
	// corrected is true where the frequency of a key is less than three standard deviations: the
	// corrections, which the theorem leaves out, make such errors smaller.
	corrected bool
}

// expected averages the theorem over the keys of a gauge: (9), and (10)² + (11). (11) takes the sampled
// pairs as given, and so does (9). An error is at most the largest that an estimate in [−1, 1] has: for
// rare keys the theorem's approximation is far above it.
func (r rival) expected(t *truth, g gauge, dim, padding, clients int, epsilon float64) (theory, error) {
	if !r.isPCKV() || g.of == precision {
		return theory{}, nil
	}
	c, err := channelOf(r.by, r.mechanism, epsilon, dim, padding)
	if err != nil {
		return theory{}, err
	}
	var out theory
	n, keys := float64(clients), g.keys(t)
	for _, k := range keys {
		f, m := t.frequency[k], t.mean[k]
		v := c.FrequencyMSE(padding, f, n)
		out.corrected = out.corrected || f < 3*math.Sqrt(v)
		if g.of == mean {
			largest, bias := 1+math.Abs(m), c.MeanBias(padding, f, m, n)
			v = min(c.MeanMSE(padding, f, m, n)+(1-m*m)*float64(padding)/(n*f)+bias*bias, largest*largest)
		}
		out.mse += v / float64(len(keys))
		out.variance += 2 * v * v / float64(len(keys)*len(keys))
	}
	return out, nil
}
