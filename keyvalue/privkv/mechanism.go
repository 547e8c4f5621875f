package privkv

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/keyvalue"
)

type mechanism struct {
	round    fl.Round
	digest   [32]byte
	protocol *protocol
	codec    codec
	rounds   int
}

var (
	_ fl.KeyValueMechanism = (*mechanism)(nil)
	_ fl.ReportSizer       = (*mechanism)(nil)
	_ fl.Adviser           = (*mechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	pairs, err := keyvalue.Pairs(grad, m.round.Dim, m.round.Scale)
	if err != nil {
		return dst, fmt.Errorf("%s: encode: %w", m.round.Mechanism, err)
	}
	return m.EncodeKeyValues(dst, pairs, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs), to check them.
func (m *mechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	return m.EncodeChoosing(dst, pairs, exact.Rand{Rand: rng})
}

// EncodeChoosing is EncodeKeyValues with every choice taken by choose, so that the
// law of a report can be enumerated.
func (m *mechanism) EncodeChoosing(dst []byte, pairs []fl.KeyValue, choose exact.Chooser) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, fmt.Errorf("%s: encode: %w", m.round.Mechanism, err)
	}
	key := uint32(choose.Uniform(uint64(m.round.Dim)))
	at, held := slices.BinarySearchFunc(pairs, key, func(p fl.KeyValue, key uint32) int {
		return int(int64(p.Key) - int64(key))
	})
	value := 0.0
	if held {
		value = pairs[at].Value
	}
	return m.codec.append(dst, key, m.protocol.message(held, value, choose)), nil
}

func (m *mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{mechanism: m, tallies: make([]tally, m.round.Dim)}
}

// Guarantee implements fl.Mechanism. For PrivKV and PrivKVM the true ε is smaller, see
// the package comment.
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Model: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m *mechanism) ReportBytes() int { return m.codec.bytes }

// Advice implements fl.Adviser.
func (m *mechanism) Advice() []string {
	if m.rounds == 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s = %d keeps budget for real rounds that are not run; 1 gives less noise", ParamRounds, m.rounds)}
}
