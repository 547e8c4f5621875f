package shares

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Name is the registered name of the mechanism.
const Name = "gaussian-shares"

// maxPadded is the largest d'.
const maxPadded = 1 << 23

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	m, err := newMechanism(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	return m, nil
}

func checkRound(r fl.Round) error {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return fl.Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case !(r.Delta > 0):
		return fl.Invalid("delta", r.Delta, "must be > 0: this mechanism is (ε, δ)-DP")
	case r.Dim > maxPadded:
		return fl.Invalid("dim", r.Dim, "must be at most %d", maxPadded)
	case r.Scale < 0x1p-900 || r.Scale > 0x1p+900:
		return fl.Invalid("scale", r.Scale, "must be in [2^-900, 2^900]")
	}
	return nil
}

// capacity is the number of vectors that the ring has room for. A round may get more reports than
// its target when it closes with batches in flight.
func (m *mechanism) capacity() int64 {
	if m.records > 0 {
		return m.records
	}
	return 2*int64(max(m.round.MinReports, m.round.TargetReports)) + 1024
}
