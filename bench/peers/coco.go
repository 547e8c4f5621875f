package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
)

// cocoContender is CoCo of this repository.
type cocoContender struct {
	description about
	round       fl.Round
	mechanism   fl.SparseMechanism
	aggregator  fl.Aggregator
	rng         *rand.Rand
}

// newDefaultCoCo leaves the hash family to fl.Complete.
func newDefaultCoCo(t task, src *rand.ChaCha8) (contender, error) {
	return newCoCo(t, fl.Params{}, "default", src)
}

// newIdealCoCo takes the hash family of the paper.
func newIdealCoCo(t task, src *rand.ChaCha8) (contender, error) {
	return newCoCo(t, fl.Params{"hash": fl.Text("ideal")}, "paper", src)
}

func newCoCo(t task, params fl.Params, choice string, src *rand.ChaCha8) (contender, error) {
	r := fl.Round{
		ID:         "peers",
		Mechanism:  coco.Name,
		Params:     params.With("sparsity", fl.Int(t.Sparsity)),
		Dim:        t.Dim,
		Scale:      1,
		Epsilon:    t.Epsilon,
		MinReports: 1,
	}
	if _, err := src.Read(r.PublicSeed[:]); err != nil {
		return nil, err
	}
	r, m, err := fl.Complete(r)
	if err != nil {
		return nil, err
	}
	sparse, ok := m.(fl.SparseMechanism)
	if !ok {
		return nil, fmt.Errorf("peers: %s takes no ternary vectors", coco.Name)
	}
	family, err := r.Params.Text("hash")
	if err != nil {
		return nil, err
	}
	return &cocoContender{
		description: about{
			Name:      fmt.Sprintf("CoCo, hash %q (%s)", family, choice),
			Sends:     fmt.Sprintf("%d-sparse vector", t.Sparsity),
			Sum:       "noisy, unbiased",
			Guarantee: m.Guarantee().String(),
		},
		round:      r,
		mechanism:  sparse,
		aggregator: m.NewAggregator(),
		rng:        rand.New(src),
	}, nil
}

func (c *cocoContender) about() about { return c.description }

func (c *cocoContender) join() error {
	_, err := fl.Open(c.round)
	return err
}

func (c *cocoContender) encode(x fl.Ternary) (report, error) {
	b, err := c.mechanism.EncodeTernary(nil, x, c.rng)
	return report{parts: [][]byte{b}}, err
}

func (c *cocoContender) add(r report) error { return c.aggregator.Add(r.parts[0]) }

func (c *cocoContender) sum() ([]float64, error) {
	e, err := c.aggregator.Estimate()
	if err != nil {
		return nil, err
	}
	sum := e.Mean().Value
	for j := range sum {
		sum[j] *= float64(e.Reports)
	}
	return sum, nil
}
