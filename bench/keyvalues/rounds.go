package keyvalues

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
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

// round describes a round of a contender.
func (c *contender) round(clients, dim int, epsilon float64, s setting) fl.Round {
	r := fl.Round{ID: "bench", Mechanism: c.mechanism, Dim: dim, Scale: cmp.Or(s.scale, 1), Epsilon: epsilon, MinReports: clients, Params: s.params, PublicSeed: [32]byte{1}}
	if s.reports > 0 {
		r.MinReports = min(r.MinReports, s.reports)
	}
	if s.frequencies {
		r.Columns = []string{fl.ColumnFrequency}
	}
	return r
}

// estimateOf runs one round of a contender over a population, whose reports fill adds.
func (c *contender) estimateOf(p *population, epsilon float64, s setting, rng *rand.Rand, fill func(*opened) error) (estimate, error) {
	o, err := openRound(c.round(p.clients(), p.dim, epsilon, s), rng)
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

// ofOwn is a mechanism of the flag --with. Where it has frequencies it is measured by all metrics, and else by the metrics of means.
func ofOwn(o experiment.Own) contender {
	c := contender{label: o.Label, mechanism: o.Mechanism, run: fromVectors}
	c.settings = func(at shape, epsilon float64) ([]setting, error) {
		s := setting{params: o.Params(at.sparsity), by: meanMetrics}
		if slices.Contains(fl.Columns(o.Mechanism), fl.ColumnFrequency) {
			s.frequencies, s.by = true, metrics
		}
		_, m, err := fl.Complete(c.round(at.clients, at.dim, epsilon, s))
		if err == nil && !experiment.OfEntries(m) {
			s.scale = math.Sqrt(float64(at.sparsity)) // the norm of every vector: none is clipped
		}
		return []setting{s}, err
	}
	return c
}

// fromVectors encodes the vectors of the clients by whatever the mechanism has for them.
func fromVectors(ctx context.Context, c *contender, p *population, epsilon float64, s setting, rng *rand.Rand) (estimate, error) {
	return c.estimateOf(p, epsilon, s, rng, func(o *opened) error {
		switch o.mechanism.(type) {
		case fl.SparseMechanism:
			return o.addTernaries(ctx, p, rng)
		case fl.KeyValueMechanism:
			return o.addPairs(ctx, p, rng)
		}
		dense := make([]float64, p.dim)
		return o.encode(ctx, p.clients(), func(dst []byte, client int) ([]byte, error) {
			clear(dense)
			x := p.ternary(client)
			for i, k := range x.Index {
				dense[k] = float64(x.Sign[i])
			}
			return o.mechanism.Encode(dst, dense, rng)
		})
	})
}

// fromCounts draws the counts of the reports from their law.
func fromCounts(ctx context.Context, c *contender, p *population, epsilon float64, s setting, rng *rand.Rand) (estimate, error) {
	return c.estimateOf(p, epsilon, s, rng, func(o *opened) error {
		return errors.Join(ctx.Err(), simulate(o.round, o.agg, p, rng))
	})
}

// addTernaries encodes the vectors of the clients, for a mechanism for sparse vectors.
func (o *opened) addTernaries(ctx context.Context, p *population, rng *rand.Rand) error {
	m := o.mechanism.(fl.SparseMechanism)
	return o.encode(ctx, p.clients(), func(dst []byte, client int) ([]byte, error) {
		return m.EncodeTernary(dst, p.ternary(client), rng)
	})
}

// addPairs encodes the pairs of the clients, for a mechanism for key-value pairs.
func (o *opened) addPairs(ctx context.Context, p *population, rng *rand.Rand) error {
	m := o.mechanism.(fl.KeyValueMechanism)
	var pairs []fl.KeyValue
	return o.encode(ctx, p.clients(), func(dst []byte, client int) ([]byte, error) {
		pairs = p.pairs(pairs[:0], client)
		return m.EncodeKeyValues(dst, pairs, rng)
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
