package compose

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// MaxCount is the largest number of mechanisms in a composition.
const MaxCount = 10_000_000

// Options tunes the discretisation; the zero value is a good choice.
type Options struct {
	// Step is the largest spacing of the loss grid; 0 means the lattice of the losses, or
	// 1/2000 and at most 1/256 of the largest loss. The error in ε grows as Count·Step².
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

// Distribution is the privacy-loss distribution of a composition of mechanisms, enclosed by
// two laws on a grid of losses. It is immutable and safe for concurrent use.
type Distribution struct {
	parts []part
	step  float64
	total int
}

// A mechanism has comparable values; equal values are the same mechanism.
type mechanism interface {
	// largest returns the loss beyond which there is at most tail of mass.
	largest(ctx context.Context, tail float64) (float64, error)
	// lattice returns the spacing of a grid that holds all losses, or 0.
	lattice() float64
	// discretise returns laws on the grid that dominate the mechanism and are dominated
	// by it.
	discretise(ctx context.Context, step, largest float64) (upper, lower masses, err error)
}

// distributionOf returns the distribution of one mechanism, or the error about its
// parameters, with the prefix of the package.
func distributionOf(ctx context.Context, m mechanism, refused error, options Options) (*Distribution, error) {
	if refused != nil {
		return nil, fmt.Errorf("compose: %w", refused)
	}
	d, err := newDistribution(ctx, m, options)
	if err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	return d, nil
}

// newDistribution returns the distribution of one mechanism. Cost: O(1/step)
// evaluations of its curve.
func newDistribution(ctx context.Context, m mechanism, options Options) (*Distribution, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Tail == 0 {
		options.Tail = 1e-18
	}
	largest, err := m.largest(ctx, options.Tail)
	if err != nil {
		return nil, err
	}
	p := part{mechanism: m, count: 1, largest: largest, base: options.Step}
	if p.base == 0 {
		p.base = defaultStep(m, largest)
	}
	return assemble(ctx, []part{p})
}

// Step returns the spacing of the loss grid.
func (d *Distribution) Step() float64 { return d.step }

// Count returns the number of composed mechanisms.
func (d *Distribution) Count() int { return d.total }

// Compose returns the k-fold composition of d with itself; k >= 1, and no more than
// MaxCount mechanisms in total. Cost: O(1), the work is done by Delta and Epsilon.
func (d *Distribution) Compose(k int) (*Distribution, error) {
	if k < 1 || k > MaxCount/d.total {
		return nil, invalid("k", k, "must be in [1, %d] for %d mechanisms", MaxCount/d.total, d.total)
	}
	composed := &Distribution{parts: append([]part(nil), d.parts...), step: d.step, total: d.total * k}
	for i := range composed.parts {
		composed.parts[i].count *= k
	}
	return composed, nil
}

// Then returns the composition of d and other. The same mechanisms in another order give
// the same result up to rounding. Cost: mechanisms that are not on the common grid are
// discretised again. It ends with the error of ctx once that is done.
func (d *Distribution) Then(ctx context.Context, other *Distribution) (*Distribution, error) {
	if other == nil {
		return nil, invalid("other", "nil", "must not be nil")
	}
	composed, err := assemble(ctx, append(append([]part(nil), d.parts...), other.parts...))
	if err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	return composed, nil
}
