package plan

import (
	"cmp"
	"context"
	"math"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/sparse"
)

// search remembers what it has computed, because mechanisms whose slots have the same
// weights ask for the same central ε. It is safe for concurrent use.
type search struct {
	mu    sync.Mutex
	known map[question]func() (float64, error)
}

// question is what the central ε of a client's reports depends on, beside the
// budget.
type question struct {
	likely, slots          int
	local                  float64
	cohort, participations int
}

func newSearch() *search { return &search{known: map[question]func() (float64, error){}} }

// plan returns the plan of a mechanism with the smallest error: of all numbers of slots, each
// with the largest local ε within the budget.
//
// Weights (see weight) say for every number of slots about what its ε will be. The best number by
// these is solved for exactly. Its weight corrects the others, which keep the benefit of the doubt.
// The search ends when the best number has been solved for.
func (f *search) plan(ctx context.Context, c design, d Demand) (Plan, error) {
	if d.Epsilon == 0 {
		return f.planAt(ctx, c, d, d.EpsilonLocal)
	}
	shape, likely := d.point(), c.Likely(d.Sparsity)
	within := weightWithin(d.Epsilon, d.Delta, d.cohort(), d.Participations)
	solved := map[int]float64{}
	expected := func(slots int) float64 {
		if local, ok := solved[slots]; ok {
			return local
		}
		return d.limited(epsilonOf(likely, slots, within*(1+weightDoubt)))
	}
	for {
		slots, err := c.BestSlotsAt(shape, expected)
		if err != nil {
			return Plan{}, err
		}
		if local, ok := solved[slots]; ok {
			return f.planWith(ctx, c, d, slots, local)
		}
		local, err := f.localFor(ctx, c, d, slots, within)
		if err != nil {
			return Plan{}, err
		}
		solved[slots] = local
		if local < d.limited(fl.MaxEpsilon) { // the budget is what limits it
			within = weight(likely, slots, local)
		}
	}
}

// weightDoubt is by how much the weight within a budget may differ between numbers of slots, as a
// part of it. With thousands of reports it is less than a tenth of that.
const weightDoubt = 0.05

// planAt is the plan with the number of slots that is best at a local ε.
func (f *search) planAt(ctx context.Context, c design, d Demand, local float64) (Plan, error) {
	shape := d.point()
	shape.Epsilon = local
	slots, err := c.BestSlots(shape)
	if err != nil {
		return Plan{}, err
	}
	return f.planWith(ctx, c, d, slots, local)
}

// planWith is the plan with a number of slots and a local ε, whatever the demand's.
func (f *search) planWith(ctx context.Context, c design, d Demand, slots int, local float64) (Plan, error) {
	p := d.point()
	p.Slots, p.Epsilon = slots, local
	mse, err := c.MSE(p)
	if err != nil {
		return Plan{}, err
	}
	central, err := f.central(ctx, c, p, d)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Mechanism: c.Name(), EpsilonLocal: local, Slots: slots, Cohort: d.cohort(), EpsilonCentral: central,
		Error: math.Sqrt(mse / float64(d.Dim) / float64(d.cohort())),
	}, nil
}

// point is the demand's shape, with slots that decode fast.
func (d Demand) point() sparse.Point {
	return sparse.Point{Dim: d.Dim, Sparsity: d.Sparsity, Hash: sparse.HashGF2}
}

// limited is a local ε within the demand's limits: at most EpsilonLocal, and at least the share
// of the budget that needs no shuffling. A limit with more digits than are printed is rounded
// down to them.
func (d Demand) limited(local float64) float64 {
	most := float64(fl.MaxEpsilon)
	if d.EpsilonLocal > 0 {
		most = fl.RoundDown(d.EpsilonLocal, digits)
	}
	return min(most, max(local, d.Epsilon/float64(d.Participations)))
}

// localFor returns the largest local ε at a number of slots that is within EpsilonLocal and whose
// composed central ε is within the budget, rounded down to the digits that are printed: a run that is
// asked for with them keeps the budget, too. weight is about the result's weight.
func (f *search) localFor(ctx context.Context, c design, d Demand, slots int, weight float64) (float64, error) {
	local, err := f.largest(ctx, c, d, slots, weight)
	return fl.RoundDown(local, digits), err
}

// largest is localFor without rounding to digits.
func (f *search) largest(ctx context.Context, c design, d Demand, slots int, weight float64) (float64, error) {
	p := d.point()
	p.Slots = slots
	if d.Participations == 1 {
		local, err := privacy.LocalFor(ctx, func(epsilon float64) (fl.Amplification, error) {
			p.Epsilon = epsilon
			return c.Blanket(p)
		}, d.cohort(), d.Delta, d.Epsilon)
		return d.limited(local), err
	}
	// The logarithm of the ratio of central ε and budget, which grows with the logarithm of
	// the local ε. What is tried lies in [lo, hi] of the local ε's logarithm.
	excess := func(x float64) (float64, error) {
		p.Epsilon = math.Exp(x)
		central, err := f.central(ctx, c, p, d)
		return math.Log(central / d.Epsilon), err
	}
	// Without shuffling k reports of ε/k are within ε: that always holds.
	least, largest := d.limited(0), d.limited(fl.MaxEpsilon)
	if least == largest {
		return largest, nil
	}
	lo, hi := math.Log(least), math.Log(largest)
	start := epsilonOf(c.Likely(d.Sparsity), slots, weight)
	atLo, atHi := math.Inf(-1), math.Inf(1)
	// Newton's steps, at first as weights grow and then along the last chord, half a tolerance
	// further than the root so that the bracket closes from both sides.
	steepness := growth(c.Likely(d.Sparsity), slots, d.limited(start)) / 2
	for x := min(max(math.Log(start), lo), hi); hi-lo > localTolerance; {
		over, err := excess(x)
		if err != nil {
			return 0, err
		}
		if over <= 0 && x >= hi {
			return largest, nil
		}
		if over > 0 {
			hi, atHi = x, over
		} else {
			lo, atLo = x, over
		}
		if !math.IsInf(atLo, -1) && !math.IsInf(atHi, 1) {
			steepness = (atHi - atLo) / (hi - lo)
		}
		step := -over / steepness
		x += step + math.Copysign(localTolerance/2, step)
		switch {
		case x >= hi && math.IsInf(atHi, 1):
			x = hi // the limit may be within the budget
		case !(x > lo && x < hi):
			x = lo + (hi-lo)/2
		}
	}
	return min(math.Exp(lo), largest), nil
}

// localTolerance is the width of log ε at which the search for it ends.
const localTolerance = 0.002

// options are a coarser grid of losses than the default. Its error is on the safe side. The mass
// of large losses that count as infinite is at most a thousandth of δ in all.
func (d Demand) options() privacy.Options {
	k, budget := float64(d.Participations), cmp.Or(d.Epsilon, fl.MaxEpsilon)
	return privacy.Options{
		Step: min(1./512, budget/(40*math.Sqrt(k))),
		Tail: d.Delta / (1000 * k),
	}
}

// central is the central ε of all participations of a client, for a mechanism at a point. All
// calls for one search have the same ctx and budget.
func (f *search) central(ctx context.Context, c design, p sparse.Point, d Demand) (float64, error) {
	q := question{
		likely: c.Likely(p.Sparsity), slots: p.Slots, local: p.Epsilon,
		cohort: d.cohort(), participations: d.Participations,
	}
	f.mu.Lock()
	answer, ok := f.known[q]
	if !ok {
		answer = sync.OnceValues(func() (float64, error) {
			blanket, err := c.Blanket(p)
			if err != nil {
				return 0, err
			}
			return composedCentral(ctx, blanket, p.Epsilon, d)
		})
		f.known[q] = answer
	}
	f.mu.Unlock()
	return answer()
}

// composedCentral is the central ε of all participations of a client.
func composedCentral(ctx context.Context, b *privacy.Blanket, local float64, d Demand) (float64, error) {
	if d.Participations == 1 {
		return b.Epsilon(d.cohort(), d.Delta)
	}
	basic := float64(d.Participations) * local
	one, err := privacy.FromCurve(ctx, b.Coarse().Curve(d.cohort()), local, d.options())
	if err != nil {
		return 0, err
	}
	all, err := one.Compose(d.Participations)
	if err != nil {
		return 0, err
	}
	upper, err := all.UpperEpsilon(ctx, d.Delta)
	return min(basic, upper), err
}
