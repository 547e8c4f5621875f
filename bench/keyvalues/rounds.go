package keyvalues

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// opened is a round with its code.
type opened struct {
	round     fl.Round
	mechanism fl.Mechanism
	agg       fl.Aggregator
}

// openRound opens a round of a mechanism with a random public seed.
func openRound(r fl.Round, rng *rand.Rand) (*opened, error) {
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(rng.Uint32())
	}
	r, m, err := fl.Complete(r)
	if err != nil {
		return nil, err
	}
	return &opened{round: r, mechanism: m, agg: m.NewAggregator()}, nil
}

// estimateOf runs one round of a contender over a population, whose reports fill adds.
func (c *contender) estimateOf(p *population, epsilon float64, s setting, rng *rand.Rand, fill func(*opened) error) (estimate, error) {
	r := fl.Round{ID: "bench", Mechanism: c.mechanism, Dim: p.dim, Scale: 1, Epsilon: epsilon, MinReports: p.clients(), Params: s.params}
	if s.reports > 0 {
		r.MinReports = min(r.MinReports, s.reports)
	}
	if s.frequencies {
		r.Columns = []string{fl.ColumnFrequency}
	}
	o, err := openRound(r, rng)
	if err != nil {
		return estimate{}, err
	}
	if err := fill(o); err != nil {
		return estimate{}, err
	}
	e, err := o.agg.Estimate()
	if err != nil {
		return estimate{}, err
	}
	return newEstimate(e), nil
}

// fromCounts draws the counts of the reports from their law.
func fromCounts(ctx context.Context, c *contender, p *population, epsilon float64, s setting, rng *rand.Rand) (estimate, error) {
	return c.estimateOf(p, epsilon, s, rng, func(o *opened) error {
		return errors.Join(ctx.Err(), simulate(o.round, o.agg, p, rng))
	})
}

// fromTernaries encodes the vectors of the clients.
func fromTernaries(ctx context.Context, c *contender, p *population, epsilon float64, s setting, rng *rand.Rand) (estimate, error) {
	return c.estimateOf(p, epsilon, s, rng, func(o *opened) error {
		m, ok := o.mechanism.(fl.SparseMechanism)
		if !ok {
			return fmt.Errorf("%s is not for sparse vectors", c.mechanism)
		}
		return o.encode(ctx, p.clients(), func(dst []byte, client int) ([]byte, error) {
			return m.EncodeTernary(dst, p.ternary(client), rng)
		})
	})
}

// fromPairs encodes the pairs of the clients.
func fromPairs(ctx context.Context, c *contender, p *population, epsilon float64, s setting, rng *rand.Rand) (estimate, error) {
	return c.estimateOf(p, epsilon, s, rng, func(o *opened) error {
		m, ok := o.mechanism.(fl.KeyValueMechanism)
		if !ok {
			return fmt.Errorf("%s is not for key-value pairs", c.mechanism)
		}
		var pairs []fl.KeyValue
		return o.encode(ctx, p.clients(), func(dst []byte, client int) ([]byte, error) {
			pairs = p.pairs(pairs[:0], client)
			return m.EncodeKeyValues(dst, pairs, rng)
		})
	})
}

// encode adds reports in batches, which share their memory.
func (o *opened) encode(ctx context.Context, clients int, report func(dst []byte, client int) ([]byte, error)) error {
	const size = 1024
	var slab []byte
	batch := make([][]byte, 0, size)
	for client := range clients {
		start := len(slab)
		var err error
		if slab, err = report(slab, client); err != nil {
			return err
		}
		batch = append(batch, slab[start:])
		if len(batch) < size && client < clients-1 {
			continue
		}
		if err := errors.Join(ctx.Err(), fl.AddBatch(o.mechanism, o.agg, batch)); err != nil {
			return err
		}
		slab, batch = slab[:0], batch[:0]
	}
	return nil
}
