package keyvalue

import (
	"math/bits"

	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// response is PCKV-GRR (Algorithm 3), with or without the gain of padding.
type response struct {
	dim  int
	keys int // with dummies
	weights
}

func newResponse(epsilon float64, dim, padding, gain int) (*response, error) {
	keys := dim + padding
	w, err := newWeights(epsilon, gain, uint64(2*keys-1))
	if err != nil {
		return nil, err
	}
	return &response{dim: dim, keys: keys, weights: w}, nil
}

// perturb appends the report of one sent pair. O(1).
func (g *response) perturb(dst []byte, sent signedKey, choose exact.Chooser) []byte {
	signedKeys := uint64(2 * g.keys)
	s := symbol(sent.key, sent.minus)
	// A uniform signed key, the sent one among them, takes the low weights.
	if choose.Weighted([]uint64{g.high - g.low, signedKeys * g.low}) == 1 {
		s = choose.Uniform(signedKeys)
	}
	for range g.bytes() {
		dst = append(dst, byte(s))
		s >>= 8
	}
	return dst
}

func (g *response) bytes() int { return (bits.Len(uint(2*g.keys-1)) + 7) / 8 }

func (g *response) channel() Channel {
	signal := float64(g.high - g.low)
	total := signal + 2*float64(g.keys)*float64(g.low)
	return Channel{Background: 2 * float64(g.low) / total, Hold: signal / total, Sign: signal / total}
}

// read checks a report and calls visit, unless it is nil, with its key, when that is
// not a dummy.
func (g *response) read(report []byte, visit func(key int, minus bool)) error {
	if len(report) != g.bytes() {
		return count.BadReport("length", len(report), "must be %d bytes", g.bytes())
	}
	var s uint64
	for i, b := range report {
		s |= uint64(b) << (8 * i)
	}
	if s >= uint64(2*g.keys) {
		return count.BadReport("key", s/2, "must be below dim + padding = %d", g.keys)
	}
	if key := int(s / 2); key < g.dim && visit != nil {
		visit(key, s%2 == 1)
	}
	return nil
}
