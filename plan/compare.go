package plan

import (
	"context"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// compare finds what the plan's own choices buy: its number of slots, and one report at a time.
func (s *Schedule) compare(ctx context.Context, f *search, schemes []*sparse.Scheme, chosen *sparse.Scheme, d Demand) (err error) {
	if s.FewerSlots, err = f.fewerSlots(ctx, schemes, chosen, d, s.Plan); err != nil {
		return err
	}
	const reports = 4
	within := weight(chosen.Likely(s.Sparsity), s.Slots, s.EpsilonLocal)
	if s.EpsilonLocal == d.limited(fl.MaxEpsilon) { // which leaves some of the budget
		within = weightWithin(d.Epsilon, d.Delta, d.cohort(), d.Participations)
	}
	mse, err := d.leastMSE(schemes, within/reports)
	s.NoiseOfFour = math.Sqrt(mse/float64(d.Dim)/float64(reports*s.Cohort)/float64(s.Rounds)) * s.Scale
	return err
}

// fewerSlots returns the plan with the smallest error among those whose number of slots is best
// for their own local ε. It returns nil if the best plan of all, of the chosen one of the schemes,
// is such a plan. Weights find it, and its ε is then solved for.
func (f *search) fewerSlots(ctx context.Context, schemes []*sparse.Scheme, chosen *sparse.Scheme, d Demand, best Plan) (*Plan, error) {
	p := d.point()
	p.Epsilon = best.EpsilonLocal
	if alone, err := chosen.BestSlots(p); err != nil || alone == best.Slots {
		return nil, err
	}
	within := weight(chosen.Likely(d.Sparsity), best.Slots, best.EpsilonLocal)
	var fewer *sparse.Scheme
	var slots int
	least := math.Inf(1)
	for _, c := range schemes {
		p, err := d.settled(c, best.EpsilonLocal, within)
		if err != nil {
			continue // not a mechanism for this shape
		}
		if mse, err := c.MSE(p); err == nil && mse < least {
			fewer, slots, least = c, p.Slots, mse
		}
	}
	local, err := f.localFor(ctx, fewer, d, slots, within)
	if err != nil {
		return nil, err
	}
	plan, err := f.planWith(ctx, fewer, d, slots, local)
	return &plan, err
}

// leastMSE returns the smallest MSE of the schemes with reports of a weight.
func (d Demand) leastMSE(schemes []*sparse.Scheme, within float64) (least float64, err error) {
	least = math.Inf(1)
	for _, c := range schemes {
		at := func(slots int) float64 { return d.limited(epsilonOf(c.Likely(d.Sparsity), slots, within)) }
		p := d.point()
		var mse float64
		if p.Slots, err = c.BestSlotsAt(p, at); err != nil {
			continue // not a mechanism for this shape
		}
		p.Epsilon = at(p.Slots)
		if mse, err = c.MSE(p); err == nil {
			least = min(least, mse)
		}
	}
	if !math.IsInf(least, 1) {
		err = nil
	}
	return least, err
}

// settled returns a point whose number of slots is best for its ε, and whose ε has the given weight
// at that number. It goes down from a local ε: fewer slots leave a smaller ε, and a smaller ε
// wants fewer slots.
func (d Demand) settled(c *sparse.Scheme, local, within float64) (sparse.Point, error) {
	p := d.point()
	for p.Slots, p.Epsilon = math.MaxInt, local; ; {
		slots, err := c.BestSlots(p)
		if err != nil || slots >= p.Slots {
			return p, err
		}
		p.Slots, p.Epsilon = slots, d.limited(epsilonOf(c.Likely(d.Sparsity), slots, within))
	}
}
