package privacy

import (
	"cmp"
	"context"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
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
//
// # Neighbours
//
// A mechanism has output laws P and Q on two
// neighbouring inputs, and its curve is
//
//	δ(ε) = sup_S P(S) − e^ε·Q(S) = E_P[(1 − e^{ε−L})_+],    L = log(dP/dQ).
//
// All mechanisms here are symmetric: (Q, P) has the same curve, so that
// δ(−ε) = 1 − e^{−ε}(1 − δ(ε)) and the curve for ε >= 0 is all there is. This holds under
// replacement of one client's input. It holds for noise with a symmetric law under any
// neighbouring relation. It does not hold for subsampling with clients added or removed.
// A client in k of the T rounds composes k times. Mechanisms may be chosen adaptively, as long
// as each has the stated curve whatever came before.
//
// # Bounds
//
// The methods return [Bounds]. Upper is the guarantee: it is never below the truth. Lower shows
// how much of Upper is due to discretisation, truncation and rounding. Some mechanisms are known
// by an upper bound on their curve only (Shuffled, FromCurve). For them Lower refers to that
// curve, not to the mechanism.
//
// # Method
//
// A pair of laws that has the higher curve at every ε dominates, and domination survives
// adaptive composition (Zhu, Dong and Wang, AISTATS 2022, Theorem 10). Over q = e^ε a curve
// is convex. Any convex curve from 1 at q = 0 that is never below 1 − q and does not
// rise belongs to a pair of laws.
//
// From above, the curve is replaced by its chords between points of the grid step·k
// (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, Connect the Dots, PETS 2022). This is
// the lowest curve on that grid. Where a given curve is not convex its convex hull is used,
// which is still above the truth. From below, a curve is first replaced by one below all convex
// curves through the same points. Then neighbouring outcomes are merged into groups whose common
// loss is a grid point. Both steps change a loss by at most a few grid steps with nearly
// no change of its mean, so that the error in ε is of order k·step², not k·step.
//
// The laws of sums are computed by fast Fourier transform (Koskela, Jälkö and Honkela,
// AISTATS 2020) of exponentially tilted laws: masses times e^{θ·loss}, normalised, with θ
// such that the tilted mean is at the ε in question. Transforms err by about 10^-16 of the
// total mass. The tilt makes this an error relative to the Chernoff bound on δ(ε) and not to 1. So δ
// of any size is reliable, down to Infinite(): there are about 10^-18 per mechanism of cut tails.
// Where the sum is so smooth that some hundred frequencies make up its law, only those are computed.
// What the others can do is bounded, and added. Four errors are bounded, added to Upper and taken from Lower: rounding of the
// transforms, rounding of all sums, the probability outside the window of the transform, and
// losses that count as on the grid.
//
// Times with default options on one core: a query about 1000 rounds of Gaussian noise takes 5 to
// 30 ms, with errors below 10^-3 in ε. A lattice of losses (Pure, Approximate, DiscreteLaplace
// alone) takes milliseconds, with errors below 10^-6. The loss of one shuffled round of up to 10^4
// clients takes up to 0.1 s. What can take longer than 0.2 s has a context as its first parameter. It
// asks the context between the points of a curve and between passes over the grid. One pass takes
// milliseconds, and up to half a second on the largest grids. A query computes its two bounds at the same time.
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
func distributionOf(ctx context.Context, m mechanism, refused error, options Options) (_ *Distribution, err error) {
	defer prefix.Error(&err, "compose")
	if refused != nil {
		return nil, refused
	}
	return newDistribution(ctx, m, options)
}

// newDistribution returns the distribution of one mechanism. Cost: O(1/step)
// evaluations of its curve.
func newDistribution(ctx context.Context, m mechanism, options Options) (*Distribution, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	options.Tail = cmp.Or(options.Tail, 1e-18)
	largest, err := m.largest(ctx, options.Tail)
	if err != nil {
		return nil, err
	}
	return assemble(ctx, []part{{mechanism: m, count: 1, largest: largest, base: cmp.Or(options.Step, defaultStep(m, largest))}})
}

// Step returns the spacing of the loss grid.
func (d *Distribution) Step() float64 { return d.step }

// Count returns the number of composed mechanisms.
func (d *Distribution) Count() int { return d.total }

// Compose returns the k-fold composition of d with itself; k >= 1, and no more than
// MaxCount mechanisms in total. Cost: O(1), the work is done by Delta and Epsilon.
func (d *Distribution) Compose(k int) (*Distribution, error) {
	if k < 1 || k > MaxCount/d.total {
		return nil, invalidComposition("k", k, "must be in [1, %d] for %d mechanisms", MaxCount/d.total, d.total)
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
func (d *Distribution) Then(ctx context.Context, other *Distribution) (_ *Distribution, err error) {
	if other == nil {
		return nil, invalidComposition("other", "nil", "must not be nil")
	}
	defer prefix.Error(&err, "compose")
	return assemble(ctx, slices.Concat(d.parts, other.parts))
}
