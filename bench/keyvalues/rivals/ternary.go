package rivals

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/ternarize"
)

// PCKVTernary is PCKV-GRR on ternarized gradients: what a key-value mechanism achieves on dense
// gradients.
//
// # Mechanism
//
// PCKV is the key-value mechanism of Gu, Li, Cheng, Xiong and Cao, "PCKV: Locally
// Differentially Private Correlated Key-Value Data Collection with Optimized Utility", USENIX
// Security 2020. It sends one of a client's non-zero coordinates. A dense gradient has dim of
// them, and so PCKV needs a padding length of dim to be unbiased. Its squared error is then
// in proportion to dim². With a shorter length the estimate is too small by the ratio.
//
// Here the gradient becomes s signed coordinates first. ternarize.Sampler does so with τ = Scale.
// They are unbiased for the gradient clipped to coordinates of τ and an L1 norm of s·τ. They are
// key-value pairs with the values ±1, and "pckv-grr" of package keyvalue sends one of them. Its
// padding length is s, which fits them all. The parameter "sparsity" is s, in [1, dim]. ε is
// finite and Round.Delta is 0.
//
// # Privacy and accuracy
//
// A report is ε-LDP, replace-one, for every ternary vector, as PCKV's reports are, with exact
// integer probabilities. Means are unbiased, and standard errors have the estimates plugged
// in. Shuffled is the bound of privacy.Clone. The columns are PCKV's columns for the ternary
// vectors.
//
// Encode takes O(dim) time, about 2 ns for a coordinate, and Add O(1). Reports and snapshots are
// reports and snapshots of "pckv-grr". A report has 2 bytes for dim = 2000.
const PCKVTernary = "pckv-ternary"

func init() { fl.Register(PCKVTernary, ternaryFactory{}) }

type ternaryFactory struct{}

// Columns implements fl.ColumnLister.
func (ternaryFactory) Columns() []string { return keyvalue.Columns() }

// Open implements fl.Factory.
func (ternaryFactory) Open(r fl.Round) (fl.Mechanism, error) {
	sparsity, err := sparse.ReadSparsity(r, ParamSparsity)
	if err != nil {
		return nil, err
	}
	inner := r
	inner.Mechanism = keyvalue.PCKVGRR
	inner.Params = fl.Params{keyvalue.ParamPadding: fl.Int(sparsity)}
	m, err := fl.Open(inner)
	if err != nil {
		return nil, err
	}
	return &ternaryMechanism{keyValues: m.(keyValues), round: r, sparsity: sparsity}, nil
}

// keyValues is what "pckv-grr" is.
type keyValues interface {
	fl.KeyValueMechanism
	fl.ReportSizer
	fl.Amplifier
}

type ternaryMechanism struct {
	keyValues
	round    fl.Round
	sparsity int
	encoders sync.Pool // of *encoder
}

type ternaryEncoder struct {
	sampler *ternarize.Sampler
	pairs   []fl.KeyValue
}

// Encode implements fl.Mechanism. O(dim).
func (m *ternaryMechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	e, ok := m.encoders.Get().(*ternaryEncoder)
	if !ok {
		sampler, err := ternarize.NewSampler(m.round.Dim, m.sparsity, m.round.Scale)
		if err != nil {
			return dst, fmt.Errorf("pckv-ternary: encode: %w", err)
		}
		e = &ternaryEncoder{sampler: sampler}
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
func (m *ternaryMechanism) NewAggregator() fl.Aggregator {
	return &ternaryAggregator{m.keyValues.NewAggregator().(counter)}
}

// counter is what aggregators of "pckv-grr" are.
type counter interface {
	fl.Aggregator
	fl.BatchAdder
}

// ternaryAggregator is one of "pckv-grr" under another name.
type ternaryAggregator struct{ counter }

// Merge refuses aggregators of "pckv-grr" too, because none of its rounds is one of this
// mechanism.
func (a *ternaryAggregator) Merge(other fl.Aggregator) error {
	if o, ok := other.(*ternaryAggregator); ok {
		return a.counter.Merge(o.counter)
	}
	return a.counter.Merge(nil)
}

func (a *ternaryAggregator) Estimate() (*fl.Estimate, error) {
	e, err := a.counter.Estimate()
	if err != nil {
		return nil, err
	}
	e.Mechanism = PCKVTernary
	return e, nil
}
