package plan

import (
	"context"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// compare finds what the plan's own choices buy: its number of slots, and one report at a time.
func (s *Schedule) compare(ctx context.Context, f *search, chosen design, d Demand) (err error) {
	if s.FewerSlots, err = f.fewerSlots(ctx, chosen, d, s.Plan); err != nil {
		return err
	}
	const reports = 4
	within := weight(chosen.Likely(s.Sparsity), s.Slots, s.EpsilonLocal)
	if s.EpsilonLocal == d.limited(fl.MaxEpsilon) { // which leaves some of the budget
		within = weightWithin(d.Epsilon, d.Delta, d.cohort(), d.Participations)
	}
	p, err := d.likely(chosen, within/reports)
	if err != nil {
		return err
	}
	mse, err := chosen.MSE(p)
	s.NoiseOfFour = math.Sqrt((mse*s.Scale*s.Scale + s.Considered[0].shape.ternary()) / float64(d.Dim) / float64(reports*s.Cohort) / float64(s.Rounds))
	return err
}

// fewerSlots returns the plan whose number of slots is best for its own local ε, and nil if the best plan of all is such
// a plan. Weights find it, and its ε is then solved for.
func (f *search) fewerSlots(ctx context.Context, c design, d Demand, best Plan) (*Plan, error) {
	p := d.point()
	p.Epsilon = best.EpsilonLocal
	if alone, err := c.BestSlots(p); err != nil || alone == best.Slots {
		return nil, err
	}
	within := weight(c.Likely(d.Sparsity), best.Slots, best.EpsilonLocal)
	p, err := d.settled(c, best.EpsilonLocal, within)
	if err != nil {
		return nil, err
	}
	local, err := f.localFor(ctx, c, d, p.Slots, within)
	if err != nil {
		return nil, err
	}
	plan, err := f.planWith(ctx, c, d, p.Slots, local)
	return &plan, err
}

// settled returns a point whose number of slots is best for its ε, and whose ε has the given weight
// at that number. It goes down from a local ε: fewer slots leave a smaller ε, and a smaller ε
// wants fewer slots.
func (d Demand) settled(c design, local, within float64) (sparse.Point, error) {
	p := d.point()
	for p.Slots, p.Epsilon = math.MaxInt, local; ; {
		slots, err := c.BestSlots(p)
		if err != nil || slots >= p.Slots {
			return p, err
		}
		p.Slots, p.Epsilon = slots, d.limited(epsilonOf(c.Likely(d.Sparsity), slots, within))
	}
}
