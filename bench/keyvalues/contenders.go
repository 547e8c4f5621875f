package keyvalues

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue/pckv"
	"github.com/hushgrad/hushgrad/keyvalue/privkv"
	"github.com/hushgrad/hushgrad/keyvalue/succinct"
	"github.com/hushgrad/hushgrad/sparse"
)

// contender is a mechanism in the figures.
type contender struct {
	label, name string
	settings    func(p sparse.Point) ([]setting, error)
	// fill adds one report of every client to the aggregator.
	fill func(ctx context.Context, o *opened, p *population, rng *rand.Rand) error
}

// setting is the parameters of a mechanism and what it is measured by with them.
type setting struct {
	params             fl.Params
	slots              int // if they are chosen here, and 0 otherwise
	frequencies, means bool
}

// opened is a round with its code.
type opened struct {
	round     fl.Round
	mechanism fl.Mechanism
	agg       fl.Aggregator
}

var contenders = []contender{
	{"PrivKV", privkv.NamePrivKV, withNothing, fillCounts},
	{"PCKV-GRR", pckv.GRR, withPadding, fillCounts},
	{"PCKV-AGRR", pckv.AGRR, withPadding, fillCounts},
	{"PCKV-UE", pckv.UE, withPadding, fillCounts},
	{"Collision", collision.Name, withSparsity, fillTernaries},
	{"CoCo", coco.Name, withSlots, fillTernaries},
	{"SUCCINCT", succinct.Name, meansOnly, fillPairs},
}

func withNothing(sparse.Point) ([]setting, error) {
	return []setting{{frequencies: true, means: true}}, nil
}

func withPadding(p sparse.Point) ([]setting, error) {
	return []setting{{params: fl.Params{pckv.ParamPadding: fl.Int(p.Sparsity)}, frequencies: true, means: true}}, nil
}

// withSparsity is the number of slots that is best for means, for everything.
func withSparsity(p sparse.Point) ([]setting, error) {
	slots, err := collision.Scheme.BestSlots(p)
	if err != nil {
		return nil, err
	}
	params := fl.Params{sparse.ParamSparsity: fl.Int(p.Sparsity), sparse.ParamSlots: fl.Int(slots)}
	return []setting{{params: params, frequencies: true, means: true}}, nil
}

func meansOnly(p sparse.Point) ([]setting, error) {
	return []setting{{params: fl.Params{sparse.ParamSparsity: fl.Int(p.Sparsity)}, means: true}}, nil
}

// withSlots chooses CoCo's number of slots for what is measured. With the best one for means
// frequencies may have no estimate.
func withSlots(p sparse.Point) ([]setting, error) {
	support, err := coco.Scheme.BestSlotsForFrequency(p)
	if err != nil {
		return nil, err
	}
	mean, err := coco.Scheme.BestSlots(p)
	if err != nil {
		return nil, err
	}
	with := func(slots int, frequencies, means bool) setting {
		params := fl.Params{sparse.ParamSparsity: fl.Int(p.Sparsity), sparse.ParamSlots: fl.Int(slots)}
		return setting{params: params, slots: slots, frequencies: frequencies, means: means}
	}
	if support == mean {
		return []setting{with(mean, true, true)}, nil
	}
	return []setting{with(support, true, false), with(mean, false, true)}, nil
}

// fillCounts draws the counts from their law.
func fillCounts(ctx context.Context, o *opened, p *population, rng *rand.Rand) error {
	return errors.Join(ctx.Err(), simulate(o.round, o.agg, p, rng))
}

// fillTernaries encodes the vectors of the clients: what the mechanism makes of s pairs with
// values ±1 before it randomizes them.
func fillTernaries(ctx context.Context, o *opened, p *population, rng *rand.Rand) error {
	m, ok := o.mechanism.(fl.SparseMechanism)
	if !ok {
		return fmt.Errorf("%s is not for sparse vectors", o.round.Mechanism)
	}
	return o.encode(ctx, p.clients(), func(dst []byte, client int) ([]byte, error) {
		return m.EncodeTernary(dst, p.ternary(client), rng)
	})
}

// fillPairs encodes the pairs of the clients.
func fillPairs(ctx context.Context, o *opened, p *population, rng *rand.Rand) error {
	m, ok := o.mechanism.(fl.KeyValueMechanism)
	if !ok {
		return fmt.Errorf("%s is not for key-value pairs", o.round.Mechanism)
	}
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
