package hdsum

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// mechanism is the GradientSum of a round, with Round.Scale as the clip norm and
// Round.MinReports as the number of clients: with more reports there is more
// noise, and fewer are never decoded.
type mechanism struct {
	round  fl.Round
	sum    *GradientSum
	codec  *codec
	digest [32]byte
}

var (
	_ fl.Mechanism = (*mechanism)(nil)
	_ fl.Coster    = (*mechanism)(nil)
	_ fl.Adviser   = (*mechanism)(nil)
)

func newMechanism(r fl.Round, c GradientConfig) (*mechanism, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	sum, err := NewGradientSum(c)
	if err != nil {
		return nil, err
	}
	m := &mechanism{round: r, sum: sum, digest: digest}
	m.codec, err = newCodec(sum.instances, sum.entryLimit())
	return m, err
}

// Encode implements fl.Mechanism: clip to L2 norm Scale, rotate, round, randomize.
// Expected time O(d' log d' + entries · log entries).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	messages, err := m.sum.Encode(grad, rng)
	if err != nil {
		return dst, err
	}
	if len(messages) > m.codec.maxEntries {
		return dst, fmt.Errorf("hdsum: encode: %w", fl.Invalid("messages", len(messages), "must be at most %d entries, try again", m.codec.maxEntries))
	}
	return m.codec.append(dst, messages), nil
}

func (m *mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{mechanism: m, sums: m.sum.NewSums()}
}

// Guarantee implements fl.Mechanism. It holds in the shuffle model only: one
// client's report tells its gradient to whoever reads it.
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Model: fl.Shuffle, Epsilon: m.round.Epsilon, Delta: m.round.Delta, Relation: m.round.Relation}
}

// Cost implements fl.Coster: the noise, and with GKMPS the messages of a gradient of
// norm Scale, before zstd.
func (m *mechanism) Cost() fl.Cost {
	c, own := m.sum.Cost(), m.sum.ownMessages()
	return fl.Cost{Messages: c.Messages + own, Bytes: c.Bytes + ownBytes*own}
}

// ownBytes is about the length of an entry for a message that is not noise.
const ownBytes = 3

// Advice implements fl.Adviser.
func (m *mechanism) Advice() []string {
	if m.sum.threshold || m.sum.levels == 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s = %d with %s = %q adds the noise of %d sub-domains; 1 level has less",
		ParamLevels, m.sum.levels, ParamSelect, selectAll, len(m.sum.domains.bounds))}
}
