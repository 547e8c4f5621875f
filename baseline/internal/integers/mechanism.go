// Package integers is what dense mechanisms have in common that add integer noise to
// every coordinate of a gradient: reports of 16-bit integers, sums, snapshots and
// estimates. What is their own is how a report is made.
package integers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Mechanism is a mechanism whose reports are Dim integers x_j·(1/Step) − ½ + noise_j of
// 16 bits, little-endian. It is immutable and safe for concurrent use.
type Mechanism struct {
	Round     fl.Round
	Promise   fl.Guarantee
	Perturber Perturber
	// Norm is 1 or 2: the norm that is clipped to Round.Scale.
	Norm float64
	// Step is what one unit of a report is worth, in units of the gradient.
	Step float64
	// Variance is that of one coordinate of a report, in squared steps.
	Variance float64

	digest [32]byte
}

// Perturber makes reports.
type Perturber interface {
	// Perturb appends 2·len(grad) bytes. grad is finite, and clip·grad has a norm of at
	// most Round.Scale up to a relative 2^−20.
	Perturb(dst []byte, grad []float64, clip float64, rng *rand.Rand) []byte
}

// New completes m, whose fields are set.
func New(m Mechanism) (*Mechanism, error) {
	var err error
	m.digest, err = m.Round.Digest()
	return &m, err
}

// Encode implements fl.Mechanism. O(dim).
func (m *Mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if len(grad) != m.Round.Dim {
		return dst, m.wrap("encode", fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", m.Round.Dim))
	}
	// The sum of dim ≤ 2^27 absolute values or squares is off by at most 2^−25 of itself.
	norm := floats.Norm(grad, m.Norm)
	if !(norm < 0x1p1000*m.Round.Scale) { // also when NaN; beyond, clip would have too few bits
		for j, g := range grad {
			if math.IsNaN(g) || math.IsInf(g, 0) {
				return dst, m.wrap("encode", fl.Invalid("gradient", g, "must be finite, coordinate %d is not", j))
			}
		}
		return dst, m.wrap("encode", fl.Invalid("gradient", norm, "must have an L%g norm below 2^1000·scale", m.Norm))
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	clip := 1.
	if norm > m.Round.Scale {
		clip = m.Round.Scale / norm
	}
	return m.Perturber.Perturb(dst, grad, clip, rng), nil
}

// NewAggregator implements fl.Mechanism.
func (m *Mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{mechanism: m, sum: make([]int64, m.Round.Dim)}
}

// Guarantee implements fl.Mechanism.
func (m *Mechanism) Guarantee() fl.Guarantee { return m.Promise }

// ReportBytes implements fl.ReportSizer.
func (m *Mechanism) ReportBytes() int { return 2 * m.Round.Dim }

func (m *Mechanism) wrap(what string, err error) error {
	return fmt.Errorf("%s: %s: %w", m.Round.Mechanism, what, err)
}

var _ fl.ReportSizer = (*Mechanism)(nil)
