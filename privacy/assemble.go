package privacy

import (
	"context"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	// maxLoss is the largest loss of one mechanism, maxGrid the largest number of positive
	// grid points.
	maxLoss = 600.0
	maxGrid = 1 << 21

	// smoothStep is the default spacing for mechanisms without a lattice.
	smoothStep = 5e-4
)

// A part is one mechanism of a composition.
type part struct {
	mechanism    mechanism
	count        int
	largest      float64 // loss at which the law is cut off
	base         float64 // largest spacing that suits it
	step         float64 // spacing of the two laws, 0 if there are none yet
	upper, lower masses
}

func defaultStep(m mechanism, largest float64) float64 {
	switch {
	case m.lattice() > 0:
		return m.lattice()
	case largest > 0:
		return math.Min(smoothStep, largest/256)
	}
	return smoothStep
}

// assemble joins equal mechanisms and puts all on one grid.
func assemble(ctx context.Context, parts []part) (*Distribution, error) {
	d := &Distribution{}
	index := make(map[mechanism]int)
	for _, p := range parts {
		if d.total += p.count; d.total > MaxCount {
			return nil, fl.Invalid("count", d.total, "must be at most %d mechanisms", MaxCount)
		}
		i, found := index[p.mechanism]
		if !found {
			index[p.mechanism] = len(d.parts)
			d.parts = append(d.parts, p)
			continue
		}
		same := &d.parts[i]
		same.count += p.count
		same.base = math.Min(same.base, p.base)
		if p.largest > same.largest { // cut off less
			same.largest, same.step = p.largest, 0
		}
	}
	d.step = commonStep(d.parts)
	for i := range d.parts {
		p := &d.parts[i]
		if p.step == d.step {
			continue
		}
		if p.largest > maxLoss || p.largest/d.step > maxGrid {
			return nil, fl.Invalid("step", d.step, "must be larger: losses up to %v need more than %d grid points, or are above %v", p.largest, maxGrid, maxLoss)
		}
		var err error
		if p.upper, p.lower, err = p.mechanism.discretise(ctx, d.step, p.largest); err != nil {
			return nil, err
		}
		p.step = d.step
	}
	return d, nil
}

// commonStep returns the largest spacing that suits all parts and divides all lattices, if
// there is one not much smaller than needed; otherwise one that divides the
// coarsest lattice. A lattice off the grid costs accuracy of the lower bounds only.
func commonStep(parts []part) float64 {
	base, divisor, coarsest := math.Inf(1), 0.0, 0.0
	for _, p := range parts {
		base = math.Min(base, p.base)
		divisor = commonDivisor(divisor, p.mechanism.lattice())
		coarsest = math.Max(coarsest, p.mechanism.lattice())
	}
	if coarsest == 0 {
		return base
	}
	if divisor < math.Min(base, smoothStep)/8 {
		base, divisor = math.Min(base, smoothStep), coarsest
	}
	return divisor / math.Ceil(divisor/base*(1-1e-12))
}

// commonDivisor is Euclid's algorithm with remainders nearest to 0; those that could be
// rounding errors count as 0.
func commonDivisor(a, b float64) float64 {
	negligible := 1e-12 * math.Max(a, b)
	for b > negligible {
		a, b = b, math.Abs(math.Remainder(a, b))
	}
	return a
}

// sides returns the laws of the sums of the dominating and of the dominated losses.
func (d *Distribution) sides() (upper, lower sums) {
	upper = sums{step: d.step, total: d.total}
	lower = upper
	for _, p := range d.parts {
		upper.terms = append(upper.terms, term{p.upper, p.count})
		lower.terms = append(lower.terms, term{p.lower, p.count})
	}
	return upper, lower
}
