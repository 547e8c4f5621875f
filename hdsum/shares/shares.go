package shares

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/quantize"
)

// Name is the registered name of the mechanism.
const Name = "sumdp-shares"

// Names of its parameters in Round.Params.
const (
	// ParamLevels is the integer that stands for the range, in [1, 2^20]. More levels have
	// less rounding error, the same noise, and a bit of report for each doubling and coordinate.
	ParamLevels = "levels"
	// ParamRange bounds a rotated coordinate, in units of Scale/√d', in [0.1, 1000]. Noise
	// grows in proportion to it, and what lies beyond is clipped.
	ParamRange = "range"
)

const (
	// maxPadded is the largest d'.
	maxPadded = 1 << 23
	// minDelta is the smallest δ, far above what float64 loses.
	minDelta = 1e-200
)

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := checkRound(r); err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	m, err := newMechanism(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	return m, nil
}

// Complete implements fl.Completer.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	if err := checkRound(r); err != nil {
		return fl.Round{}, fmt.Errorf("%s: %w", Name, err)
	}
	if !r.Params.Has(ParamRange) {
		r.Params = r.Params.With(ParamRange, fl.Real(2))
	}
	if r.Params.Has(ParamLevels) {
		return r, nil
	}
	levels, err := chooseLevels(r, padded(r.Dim))
	if err != nil {
		return fl.Round{}, fmt.Errorf("%s: %w", Name, err)
	}
	r.Params = r.Params.With(ParamLevels, fl.Int(int(levels)))
	return r, nil
}

// padded returns d'.
func padded(dim int) int {
	p := 1
	for p < dim {
		p *= 2
	}
	return p
}

func checkRound(r fl.Round) error {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return fl.Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case r.Delta < minDelta:
		return fl.Invalid("delta", r.Delta, "must be at least %g: this mechanism is (ε, δ)-DP", minDelta)
	case r.MinReports < 2:
		return fl.Invalid("min_reports", r.MinReports, "must be at least 2: the noise is spread over that many clients")
	case r.Dim > maxPadded:
		return fl.Invalid("dim", r.Dim, "must be at most %d", maxPadded)
	}
	return r.Params.Only(ParamLevels, ParamRange)
}

// capacity is the number of reports that the ring has room for. A round may get more than
// its target when it closes with batches in flight.
func capacity(r fl.Round) int64 { return 2*int64(max(r.MinReports, r.TargetReports)) + 1024 }

func quantizer(r fl.Round) (*quantize.Quantizer, error) {
	c := quantize.Config{Dim: r.Dim, ClipNorm: r.Scale}
	levels, err := r.Params.Int(ParamLevels)
	if err != nil {
		return nil, err
	}
	c.Levels = int64(levels)
	if c.Range, err = r.Params.Real(ParamRange); err != nil {
		return nil, err
	}
	if c.Key, err = r.PublicKey("hdsum/signs"); err != nil {
		return nil, err
	}
	return quantize.New(c)
}
