package compose

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// MaxCount is the largest number of mechanisms in a composition.
const MaxCount = 10_000_000

// Options tunes the discretisation; the zero value is a good choice.
type Options struct {
	// Step is the largest spacing of the loss grid; 0 means the lattice of
	// the losses, or 1/2000 and at most 1/256 of the largest loss. The error in ε grows as Count·Step².
	Step float64
	// Tail is how much probability of large losses of one mechanism may be counted as
	// infinite losses; 0 means 10^-18. k mechanisms cannot have a δ below k·Tail.
	Tail float64
}

func (o Options) check() error {
	if !(o.Step == 0 || o.Step >= 1e-9 && o.Step <= 1) {
		return fl.Invalid("step", o.Step, "must be 0 or in [1e-9, 1]")
	}
	if !(o.Tail >= 0 && o.Tail <= 0.01) {
		return fl.Invalid("tail", o.Tail, "must be in [0, 0.01]")
	}
	return nil
}

// Distribution is the privacy-loss distribution of a composition of independent
// mechanisms, enclosed by two laws on a grid of losses. It is immutable and safe for
// concurrent use.
type Distribution struct {
	parts []part
	step  float64
	total int
}

// newDistribution returns the distribution of one mechanism. Cost: that of O(1/step)
// evaluations of its curve.
func newDistribution(m mechanism, options Options) (*Distribution, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Tail == 0 {
		options.Tail = 1e-18
	}
	largest, err := m.largest(options.Tail)
	if err != nil {
		return nil, err
	}
	p := part{mechanism: m, count: 1, largest: largest, base: options.Step}
	if p.base == 0 {
		p.base = defaultStep(m, largest)
	}
	return assemble([]part{p})
}

// Step returns the spacing of the loss grid.
func (d *Distribution) Step() float64 { return d.step }

// Count returns the number of composed mechanisms.
func (d *Distribution) Count() int { return d.total }

// Compose returns the k-fold composition of d with itself; k >= 1, and no more than
// MaxCount mechanisms in total. Cost: O(1), the work is done by Delta and Epsilon.
func (d *Distribution) Compose(k int) (*Distribution, error) {
	if k < 1 || k > MaxCount/d.total {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("k", k, "must be in [1, %d] for %d mechanisms", MaxCount/d.total, d.total))
	}
	composed := &Distribution{parts: append([]part(nil), d.parts...), step: d.step, total: d.total * k}
	for i := range composed.parts {
		composed.parts[i].count *= k
	}
	return composed, nil
}

// Then returns the composition of d and other. The same mechanisms in another order give
// the same result up to rounding. Cost: mechanisms that are not on the common grid are discretised again.
func (d *Distribution) Then(other *Distribution) (*Distribution, error) {
	if other == nil {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("other", other, "must not be nil"))
	}
	composed, err := assemble(append(append([]part(nil), d.parts...), other.parts...))
	if err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	return composed, nil
}
