package sparse

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
)

var (
	_ fl.KeyValueMechanism  = (*mechanism)(nil)
	_ fl.KeyValueAggregator = (*aggregator)(nil)
)

// EncodeKeyValues implements fl.KeyValueMechanism: each pair becomes an entry whose
// sign is + with probability (1+value)/2. A client with fewer pairs than the
// sparsity is filled up with dummies; of one with more, sparsity pairs are drawn
// uniformly, and the frequencies are low by what was left out. O(pairs).
func (m *mechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.scheme.Round.Dim); err != nil {
		return dst, fmt.Errorf("%s: encode: %w", m.scheme.Round.Mechanism, err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	return m.EncodeTernary(dst, m.ternary(pairs, exact.Rand{Rand: rng}), rng)
}

// ternary draws the vector of a client.
func (m *mechanism) ternary(pairs []fl.KeyValue, choose exact.Chooser) fl.Ternary {
	s := m.scheme.Sparsity
	x := fl.Ternary{Dim: m.scheme.Round.Dim, Index: make([]uint32, 0, s), Sign: make([]int8, 0, s)}
	left := min(s, len(pairs))
	for i, p := range pairs {
		// Selection sampling (Knuth, The Art of Computer Programming 2, Algorithm S).
		if choose.Uniform(uint64(len(pairs)-i)) >= uint64(left) {
			continue
		}
		left--
		x.Index, x.Sign = append(x.Index, p.Key), append(x.Sign, signed(p.Value, choose))
	}
	for dummy := uint32(x.Dim); len(x.Index) < s; dummy++ {
		x.Index, x.Sign = append(x.Index, dummy), append(x.Sign, 1)
	}
	return x
}

// signed returns 1 with probability (1+value)/2 in units of 2^−53, and −1 otherwise.
func signed(value float64, choose exact.Chooser) int8 {
	if plus := uint64((1 + value) * (1 << 52)); choose.Uniform(1<<53) < plus {
		return 1
	}
	return -1
}

// KeyValues implements fl.KeyValueAggregator.
func (a *aggregator) KeyValues() (*fl.KeyValueEstimate, error) {
	frequency, err := a.Support()
	if err != nil {
		return nil, err
	}
	mean, err := a.mean()
	if err != nil {
		return nil, err
	}
	e := &fl.KeyValueEstimate{
		Frequency: *frequency, Mean: *mean, Conditional: make([]float64, len(mean.Value)),
		Reports: a.reports, Mechanism: a.mechanism.scheme.Round.Mechanism, Guarantee: a.mechanism.Guarantee(),
	}
	// The frequency is moved into the range that n clients can have.
	least := 1 / float64(a.reports)
	for j, v := range mean.Value {
		holders := min(max(frequency.Value[j], least), 1)
		e.Conditional[j] = min(max(v/holders, -1), 1)
	}
	return e, nil
}
