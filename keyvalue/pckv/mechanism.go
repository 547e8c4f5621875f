package pckv

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/keyvalue"
	"github.com/hushgrad/hushgrad/privacy"
)

// randomizer is what distinguishes the mechanisms.
type randomizer interface {
	// perturb appends the report of one sent pair.
	perturb(dst []byte, sent signedKey, choose exact.Chooser) []byte
	// read checks a report and calls visit, unless it is nil, with the keys it shows.
	read(report []byte, visit func(key int, minus bool)) error
	channel() Channel
}

type mechanism struct {
	randomizer
	round   fl.Round
	padding int
	digest  [32]byte
	clone   *privacy.Clone
}

var (
	_ fl.KeyValueMechanism = (*mechanism)(nil)
	_ fl.Amplifier         = (*mechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	pairs, err := keyvalue.Pairs(grad, m.round.Dim, m.round.Scale)
	if err != nil {
		return dst, m.wrap("encode", err)
	}
	return m.EncodeKeyValues(dst, pairs, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs), and for PCKV-UE the
// expected non-zero positions, dim·2/(e^ε+3).
func (m *mechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, m.wrap("encode", err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	choose := exact.Rand{Rand: rng}
	return m.perturb(dst, padAndSample(pairs, m.round.Dim, m.padding, choose), choose), nil
}

func (m *mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{mechanism: m, plus: make([]uint32, m.round.Dim), minus: make([]uint32, m.round.Dim)}
}

func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Model: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

// Central implements fl.Amplifier, by the bound for any ε-LDP randomizer.
func (m *mechanism) Central(n int, delta float64) (float64, error) { return m.clone.Epsilon(n, delta) }

// CentralDelta implements fl.Amplifier.
func (m *mechanism) CentralDelta(n int, epsilon float64) (float64, error) {
	return m.clone.Delta(n, epsilon)
}

func (m *mechanism) wrap(what string, err error) error {
	return fmt.Errorf("%s: %s: %w", m.round.Mechanism, what, err)
}
