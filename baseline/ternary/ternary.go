// Package ternary is PCKV-GRR on ternarized gradients, registered as "pckv-ternary": how
// the key-value mechanism of Gu, Li, Cheng, Xiong and Cao, "PCKV: Locally Differentially
// Private Correlated Key-Value Data Collection with Optimized Utility", USENIX Security
// 2020, is best used on gradients. It exists to be compared with. Importing it for its
// effect registers it.
//
// # Mechanism
//
// A dense gradient has dim non-zero coordinates. PCKV sends one of them, and so needs a
// padding length of dim to be unbiased, of which the error is dim²: with a shorter one the
// estimate is too small by the ratio. Here the gradient becomes s signed coordinates first,
// by ternarize.Sampler with τ = Scale, unbiased for the gradient clipped to coordinates of τ and
// an L1 norm of s·τ. They are key-value pairs with the values ±1, and go through
// "pckv-grr" of package pckv with padding length s, which fits them all. The
// parameter "sparsity" is s, in [1, dim]; ε is finite, Round.Delta 0.
//
// # Privacy and accuracy
//
// Those of pckv: ε-LDP, replace-one, for whatever ternary vector; exact integer
// probabilities; unbiased means, standard errors with the estimates plugged in. Central
// bounds shuffled reports by privacy.Clone.
//
// Encode takes O(dim) time, about 2 ns for a coordinate, Add O(1). A report is that of
// "pckv-grr", 2 bytes for dim = 2000, and so is a snapshot.
package ternary

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue/pckv"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/ternarize"
)

// Name is the registered name.
const Name = "pckv-ternary"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	sparsity, err := sparse.ReadSparsity(r, sparse.ParamSparsity)
	if err != nil {
		return nil, err
	}
	inner := r
	inner.Mechanism = pckv.GRR
	inner.Params = fl.Params{pckv.ParamPadding: fl.Int(sparsity)}
	m, err := fl.Open(inner)
	if err != nil {
		return nil, err
	}
	return &mechanism{keyValues: m.(keyValues), round: r, sparsity: sparsity}, nil
}

// keyValues is what "pckv-grr" is.
type keyValues interface {
	fl.KeyValueMechanism
	fl.ReportSizer
	fl.Amplifier
}

type mechanism struct {
	keyValues
	round    fl.Round
	sparsity int
	encoders sync.Pool // of *encoder
}

type encoder struct {
	sampler *ternarize.Sampler
	pairs   []fl.KeyValue
}

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	e, ok := m.encoders.Get().(*encoder)
	if !ok {
		sampler, err := ternarize.NewSampler(m.round.Dim, m.sparsity, m.round.Scale)
		if err != nil {
			return dst, fmt.Errorf("pckv-ternary: encode: %w", err)
		}
		e = &encoder{sampler: sampler}
	}
	defer m.encoders.Put(e)
	if rng == nil {
		rng = fl.NewRand()
	}
	x, err := e.sampler.Sample(grad, rng)
	if err != nil {
		return dst, fmt.Errorf("pckv-ternary: encode: %w", err)
	}
	e.pairs = e.pairs[:0]
	for i, j := range x.Index { // in increasing order, dummies last
		if int(j) < m.round.Dim {
			e.pairs = append(e.pairs, fl.KeyValue{Key: j, Value: float64(x.Sign[i])})
		}
	}
	return m.EncodeKeyValues(dst, e.pairs, rng)
}

// NewAggregator implements fl.Mechanism.
func (m *mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{m.keyValues.NewAggregator().(counter)}
}

// counter is what aggregators of "pckv-grr" are.
type counter interface {
	fl.KeyValueAggregator
	fl.BatchAdder
}

// aggregator is one of "pckv-grr" under another name.
type aggregator struct{ counter }

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok {
		return fmt.Errorf("pckv-ternary: merge: the aggregators belong to different rounds")
	}
	return a.counter.Merge(o.counter)
}

func (a *aggregator) Estimate() (*fl.Estimate, error) {
	e, err := a.counter.Estimate()
	if err != nil {
		return nil, err
	}
	e.Mechanism = Name
	return e, nil
}

func (a *aggregator) KeyValues() (*fl.KeyValueEstimate, error) {
	e, err := a.counter.KeyValues()
	if err != nil {
		return nil, err
	}
	e.Mechanism = Name
	return e, nil
}
