// Package integers is what dense mechanisms share that add integer noise to every coordinate of
// a gradient: reports of 16-bit integers, their sums and the estimate. Use it to write such
// a mechanism, which only makes reports of its own. Start with [New].
package integers

import (
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/internal/clip"
)

// Law says how reports are made and what they are worth. A report is Dim integers
// x_j·(1/Step) − ½ + noise_j of 16 bits, little-endian.
type Law struct {
	Perturber Perturber
	// Norm is 1 or 2: the norm that is clipped to Round.Scale.
	Norm float64
	// Step is what one unit of a report is worth, in units of the gradient.
	Step float64
	// Variance is the variance of one coordinate of a report, in squared steps.
	Variance float64
}

// Perturber makes reports.
type Perturber interface {
	// Perturb appends 2·len(grad) bytes. grad is finite, and clip·grad has a norm of at
	// most Round.Scale up to a relative 2^−20.
	Perturb(dst []byte, grad []float64, clip float64, rng *rand.Rand) []byte
}

// Mechanism is immutable and safe for concurrent use.
type Mechanism struct {
	round *count.Round
	law   Law
}

var _ fl.ReportSizer = (*Mechanism)(nil)

// New returns the mechanism of a round.
func New(r fl.Round, law Law) (*Mechanism, error) {
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	return &Mechanism{round: round, law: law}, nil
}

// Encode implements fl.Mechanism. O(dim).
func (m *Mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	// The sum of dim ≤ 2^27 absolute values or squares is off by at most 2^−25 of itself.
	g, err := clip.Measure(grad, m.round.Dim, m.law.Norm, m.round.Scale)
	if err != nil {
		return dst, m.round.Wrap("encode", err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	return m.law.Perturber.Perturb(dst, g.Short, g.Factor(m.round.Scale), rng), nil
}

// NewAggregator implements fl.Mechanism.
func (m *Mechanism) NewAggregator() fl.Aggregator {
	return count.New(m.round, func() *sums { return &sums{mechanism: m, sum: make([]int64, m.round.Dim)} })
}

// Guarantee implements fl.Mechanism: what the round asks for.
func (m *Mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Delta: m.round.Delta, Relation: fl.ReplaceOne}
}

// ReportBytes implements fl.ReportSizer.
func (m *Mechanism) ReportBytes() int { return 2 * m.round.Dim }
