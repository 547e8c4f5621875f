package gkmps

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// Limits of the parameters.
const (
	// MaxBound is the largest Bound of a Config with Rounding.
	MaxBound = 1 << 31
	// MaxAtomBound is the largest bound after rounding: up to twice as many
	// kinds of noise are listed.
	MaxAtomBound = 1 << 16
	// MinDelta is the smallest δ.
	MinDelta = 1e-200
	// MinEpsilonPerUnit is the smallest ε/U', U' the bound after rounding. Less
	// would take more than 10^14 messages.
	MinEpsilonPerUnit = 1e-8
)

// Calibration says how much noise is enough. All of them are proved.
type Calibration uint8

const (
	// Certified is the default: the constants of Published, without the atoms
	// that no input reaches. Same privacy, 27 % (U = 2) to 3 % (large U) fewer messages.
	Certified Calibration = iota
	// Published has the constants of the paper's Theorem 2 on every atom.
	Published
	// Tight uses exact tails of the negative binomial law instead of the paper's
	// Theorem 10. Same privacy, about 4 to 9 times fewer messages than Certified.
	Tight
)

var calibrations = []string{Certified: "certified", Published: "published", Tight: "tight"}

func (c Calibration) String() string {
	if int(c) < len(calibrations) {
		return calibrations[c]
	}
	return fmt.Sprintf("Calibration(%d)", uint8(c))
}

// ParseCalibration is the inverse of String. It returns a *fl.ParamError that
// lists the choices for any other text.
func ParseCalibration(text string) (Calibration, error) {
	if i := slices.Index(calibrations, text); i >= 0 {
		return Calibration(i), nil
	}
	return 0, fmt.Errorf("gkmps: %w", fl.Invalid("calibration", text, "must be one of %s", strings.Join(calibrations, ", ")))
}

// Config describes one instance of the protocol.
type Config struct {
	Clients int     // n, the exact number of clients that send noise
	Bound   int64   // U: inputs are in {0..U}
	Epsilon float64 // in (0, fl.MaxEpsilon]
	Delta   float64 // in [MinDelta, 1)
	// Relation says which inputs are neighbours. ZeroOut needs less noise.
	Relation fl.Relation
	// Calibration is Certified unless set.
	Calibration Calibration
	// Rounding allows randomized rounding to multiples of Width when Bound is
	// large against √Clients.
	Rounding bool
}

func (c Config) validate() error {
	switch {
	case c.Clients < 1:
		return fl.Invalid("clients", c.Clients, "must be at least 1")
	case c.Bound < 1 || c.Bound > MaxBound:
		return fl.Invalid("bound", c.Bound, "must be from 1 to %d", MaxBound)
	case math.IsNaN(c.Epsilon) || math.IsInf(c.Epsilon, 0):
		return fl.Invalid("epsilon", c.Epsilon, "must not be NaN or infinite")
	case c.Epsilon <= 0 || c.Epsilon > fl.MaxEpsilon:
		return fl.Invalid("epsilon", c.Epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case math.IsNaN(c.Delta) || math.IsInf(c.Delta, 0):
		return fl.Invalid("delta", c.Delta, "must not be NaN or infinite")
	case c.Delta < MinDelta || c.Delta >= 1:
		return fl.Invalid("delta", c.Delta, "must be in [%g, 1)", MinDelta)
	case c.Relation != fl.ReplaceOne && c.Relation != fl.ZeroOut:
		return fl.Invalid("relation", c.Relation, "must be %s or %s", fl.ReplaceOne, fl.ZeroOut)
	case int(c.Calibration) >= len(calibrations):
		return fl.Invalid("calibration", c.Calibration, "must be one of %s", strings.Join(calibrations, ", "))
	}
	return nil
}
