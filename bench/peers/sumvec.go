package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"
	"github.com/hushgrad/hushgrad/fl"
)

// sumVec is Prio3SumVec: the whole vector, coordinate x as x+1 in {0, 1, 2}, in
// 2 bits. The proof covers the range 0 … 3 of every coordinate, so a dishonest
// client can send x = 2, and any number of non-zeros.
type sumVec struct {
	*prio3
	vdaf        *sumvec.SumVec
	dim         int
	description about
	measurement []uint64
}

func openSumVec(dim int) (*sumvec.SumVec, error) {
	const bits = 2
	return sumvec.New(aggregators, uint(dim), bits, chunkLength(bits*dim), application)
}

func newSumVec(t task, src *rand.ChaCha8) (contender, error) {
	v, err := openSumVec(t.Dim)
	if err != nil {
		return nil, fmt.Errorf("peers: Prio3SumVec: %w", err)
	}
	params := v.Params()
	core, err := newPrio3(v, blanks{
		input:       func(i uint) *sumvec.InputShare { return new(sumvec.InputShare).New(&params, i) },
		prepShare:   func() *sumvec.PrepShare { return new(sumvec.PrepShare).New(&params) },
		prepMessage: func() *sumvec.PrepMessage { return new(sumvec.PrepMessage).New(&params) },
	}, params.RandSize(), src)
	if err != nil {
		return nil, err
	}
	between, err := core.between()
	if err != nil {
		return nil, err
	}
	return &sumVec{prio3: core, vdaf: v, dim: t.Dim, measurement: make([]uint64, t.Dim), description: about{
		Name:      "Prio3SumVec (circl)",
		Sends:     "whole vector, x+1 in 2 bits",
		Sum:       "exact",
		Guarantee: "none (secure aggregation)",
		Between:   between,
	}}, nil
}

func (c *sumVec) about() about { return c.description }

func (c *sumVec) join() error {
	_, err := openSumVec(c.dim)
	return err
}

func (c *sumVec) encode(x fl.Ternary) (report, error) {
	for j := range c.measurement {
		c.measurement[j] = 1
	}
	for i, j := range x.Index {
		c.measurement[j] = uint64(1 + int(x.Sign[i]))
	}
	return shard(c.prio3, c.measurement, c.vdaf.Shard)
}

// sum takes the 1 of every report off again.
func (c *sumVec) sum() ([]float64, error) {
	counts, err := c.open()
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(counts))
	for j, n := range counts {
		out[j] = float64(n) - float64(c.reports)
	}
	return out, nil
}
