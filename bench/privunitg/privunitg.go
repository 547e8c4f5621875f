// Package privunitg has the best known ε-LDP mean of unit vectors, for dense gradients: the member of the
// family PrivUnit that has normal noise. Compare with it, but never deploy it. Import the package for its
// effect and start with a round of the mechanism "privunitg", or with [Error].
//
// The package is the laboratory's: package mechanisms does not register the name, and the commands do not
// know it. Package privunit is for clients. It has nearly the same error, and a guarantee that is exact on a computer.
//
// The mechanism is optimal up to constants: Asi, Feldman and Talwar, Optimal Algorithms for Mean
// Estimation under Local Differential Privacy, ICML 2022.
//
// # Mechanism
//
// The paper's inputs are unit vectors. A gradient x, clipped to the L2 norm C = Scale, becomes
// one by a coordinate more: u = (x, √(C² − ‖x‖²))/C in D = dim+1 dimensions. The
// client draws a length A, which is a normal variable U conditioned on U ≥ z with probability
// p, and on U < z otherwise, and a normal vector V orthogonal to u. The report is the first
// dim coordinates of
//
//	R = C·(A·u + V)/s,   s = E[A] = φ(z)·(p/(1−q) − (1−p)/q),   q = P[U < z],
//
// so that E[R] = C·u, the gradient. To leave the last coordinate out is post-processing.
//
// # Privacy
//
// For every u, the density of R before scaling, at r, is the normal density times p/(1−q) where
// r·u is above the threshold, and times (1−p)/q elsewhere. Any two gradients' densities are
// thus within
//
//	p/(1−p)·q/(1−q) ≤ e^ε
//
// of one another. A report is ε-LDP, replace-one, without δ. p is a fraction of 2^62, drawn from
// integers, and rounded down by more than the error of the q that was computed.
//
// The rest of the argument is about real numbers. The reports come from floating-point normal
// variables and have finitely many values, which are not the same for different gradients. An
// attacker that knows which values are possible learns more than ε says. Mironov, On Significance of the Least
// Significant Bits for Differential Privacy, CCS 2012, does so for Laplace noise, and Jin,
// McMurtry, Rubinstein and Ohrimenko, Are We There Yet? Timing and Floating-Point Attacks on
// Differential Privacy Systems, IEEE S&P 2022, for normal noise.
//
// Guarantee().RealNumbers is true therefore. fl.Policy refuses the round unless a client
// accepts that, package verify reports a broken promise, and privacy.Reports and ledgers refuse
// the guarantee.
//
// # Accuracy and cost
//
// The squared error of a report is [Error], C²·((D + z·s)/s² − 1) for the z that minimises it.
// The standard error of the mean of n reports is C/(s·√n) in every coordinate.
// Encode takes dim normal variables, about 10 ns each, and Add 1 ns for a coordinate. A report
// has 4·dim bytes, float32, little-endian, and a snapshot 8·dim. Shuffled is the
// bound of privacy.Clone. Scale is in [2^−60, 2^60], ε at least [MinEpsilon], Round.Delta 0,
// and the round has no other parameters.
package privunitg

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/internal/clip"
	"github.com/hushgrad/hushgrad/privacy"
)

// Name is the registered name.
const Name = "privunitg"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := cmp.Or(r.CheckLocal(), r.Params.Only()); err != nil {
		return nil, err
	}
	switch {
	case r.Epsilon < MinEpsilon:
		return nil, fl.Invalid("epsilon", r.Epsilon, "must be at least %g", MinEpsilon)
	case r.Scale < 0x1p-60 || r.Scale > 0x1p60:
		return nil, fl.Invalid("scale", r.Scale, "must be in [2^-60, 2^60]: reports are float32")
	}
	clone, err := privacy.NewClone(r.Epsilon)
	if err != nil {
		return nil, err
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	return &mechanism{round: round, split: newSplit(r.Epsilon, r.Dim+1), clone: clone}, nil
}

type mechanism struct {
	round *count.Round
	split split
	clone *privacy.Clone
}

var (
	_ fl.ReportSizer = (*mechanism)(nil)
	_ fl.Amplifier   = (*mechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	measured, err := clip.Measure(grad, m.round.Dim, 2, m.round.Scale)
	if err != nil {
		return dst, m.round.Wrap("encode", err)
	}
	grad = measured.Short
	perUnit, last := lift(measured)
	if rng == nil {
		rng = fl.NewRand()
	}
	// A normal vector first; its last coordinate is not sent.
	report := make([]float32, len(grad))
	along := rng.NormFloat64() * last
	for j, g := range grad {
		report[j] = float32(rng.NormFloat64())
		along += float64(report[j]) * g * perUnit
	}
	// Then its part along the gradient is replaced.
	size := m.round.Scale / m.split.slope()
	turn := (m.split.draw(rng) - along) * perUnit
	for j, g := range grad {
		report[j] = float32(size * (float64(report[j]) + turn*g))
	}
	return binary.Append(dst, binary.LittleEndian, report)
}

// lift returns the factor that makes the clipped gradient a vector of length at most 1, and
// the coordinate that makes its length 1.
func lift(g clip.Gradient) (perUnit, last float64) {
	if g.Length >= g.Limit {
		return 1 / g.Length, 0
	}
	length := g.Length / g.Limit
	return 1 / g.Limit, math.Sqrt((1 - length) * (1 + length))
}

// NewAggregator implements fl.Mechanism.
func (m *mechanism) NewAggregator() fl.Aggregator {
	return count.New(m.round, func() *sums { return &sums{mechanism: m, sum: make([]float64, m.round.Dim)} })
}

// Guarantee implements fl.Mechanism.
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne, RealNumbers: true}
}

// ReportBytes implements fl.ReportSizer.
func (m *mechanism) ReportBytes() int { return 4 * m.round.Dim }

// Shuffled implements fl.Amplifier by the bound for any ε-LDP randomizer.
func (m *mechanism) Shuffled() fl.Amplification { return m.clone }
