package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/cloudflare/circl/vdaf/prio3/histogram"
	"github.com/hushgrad/hushgrad/fl"
)

// oneHot is Prio3Histogram: one of the client's signed coordinates, drawn
// uniformly, counts in one of 2·dim buckets: 2j for +1 and 2j+1 for −1 at
// coordinate j. The rest of the vector is not sent, so this is the cost of
// 1-sparse vectors; the proof covers that exactly one bucket is hit.
type oneHot struct {
	*prio3
	vdaf        *histogram.Histogram
	dim         int
	rng         *rand.Rand
	description about
}

func openHistogram(dim int) (*histogram.Histogram, error) {
	return histogram.New(aggregators, uint(2*dim), chunkLength(2*dim), application)
}

func newHistogram(t task, src *rand.ChaCha8) (contender, error) {
	v, err := openHistogram(t.Dim)
	if err != nil {
		return nil, fmt.Errorf("peers: Prio3Histogram: %w", err)
	}
	params := v.Params()
	core, err := newPrio3(v, blanks{
		input:       func(i uint) *histogram.InputShare { return new(histogram.InputShare).New(&params, i) },
		prepShare:   func() *histogram.PrepShare { return new(histogram.PrepShare).New(&params) },
		prepMessage: func() *histogram.PrepMessage { return new(histogram.PrepMessage).New(&params) },
	}, params.RandSize(), src)
	if err != nil {
		return nil, err
	}
	between, err := core.between()
	if err != nil {
		return nil, err
	}
	return &oneHot{prio3: core, vdaf: v, dim: t.Dim, rng: rand.New(src), description: about{
		Name:      "Prio3Histogram (circl)",
		Sends:     fmt.Sprintf("1 of %d coordinates", t.Sparsity),
		Sum:       "exact, of what was sent",
		Guarantee: "none (secure aggregation)",
		Between:   between,
	}}, nil
}

func (c *oneHot) about() about { return c.description }

func (c *oneHot) join() error {
	_, err := openHistogram(c.dim)
	return err
}

func (c *oneHot) encode(x fl.Ternary) (report, error) {
	i := c.rng.IntN(x.Len())
	bucket := 2 * uint64(x.Index[i])
	if x.Sign[i] < 0 {
		bucket++
	}
	return shard(c.prio3, bucket, c.vdaf.Shard)
}

func (c *oneHot) sum() ([]float64, error) {
	counts, err := c.open()
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(counts)/2)
	for j := range out {
		out[j] = float64(counts[2*j]) - float64(counts[2*j+1])
	}
	return out, nil
}
