package hdsum

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/gkmps"
)

// Name is the registered name of the mechanism.
const Name = "sumdp"

// Names of its parameters in Round.Params.
const (
	ParamLevels      = "levels"      // GradientConfig.Levels, integer
	ParamRange       = "range"       // GradientConfig.Range, real
	ParamBase        = "base"        // auto, gkmps or bbgn
	ParamCalibration = "calibration" // published, certified or tight
	ParamComposition = "composition" // tight or paper
	ParamSelect      = "select"      // all, or threshold with beta
	ParamBeta        = "beta"        // GradientConfig.Beta, real
)

// Values of ParamSelect.
const (
	selectAll       = "all"
	selectThreshold = "threshold"
)

// Defaults of rounds that leave a parameter open. One level has the least noise:
// rounding to it is negligible beside the noise, and further sub-domains would
// bring theirs.
const (
	defaultLevels = 1
	defaultRange  = 2
	defaultBeta   = 0.1
)

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	c, err := readRound(r)
	if err != nil {
		return nil, err
	}
	return newMechanism(r, c)
}

// Complete implements fl.Completer. The protocol is the one with the shorter
// reports: a client's messages travel as one multiset, in which many equal
// messages cost no more than one.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	for name, value := range map[string]fl.Value{
		ParamLevels: fl.Int(defaultLevels), ParamRange: fl.Real(defaultRange), ParamCalibration: fl.Text(gkmps.Certified.String()),
		ParamComposition: fl.Text(Tight.String()), ParamSelect: fl.Text(selectAll), ParamBeta: fl.Real(defaultBeta),
	} {
		if !r.Params.Has(name) {
			r.Params = r.Params.With(name, value)
		}
	}
	if r.Params.Has(ParamBase) {
		return r, nil
	}
	least := math.Inf(1)
	best := GKMPS
	for _, base := range []Base{GKMPS, BBGN} {
		c, err := readRound(fl.Round{
			Dim: r.Dim, Scale: r.Scale, Epsilon: r.Epsilon, Delta: r.Delta, Relation: r.Relation, MinReports: r.MinReports,
			TargetReports: r.TargetReports, PublicSeed: r.PublicSeed, Params: r.Params.With(ParamBase, fl.Text(base.String())),
		})
		if err != nil {
			return fl.Round{}, err
		}
		sum, err := NewGradientSum(c)
		if err != nil {
			return fl.Round{}, err
		}
		if bytes := sum.Cost().Bytes; bytes < least {
			least, best = bytes, base
		}
	}
	r.Params = r.Params.With(ParamBase, fl.Text(best.String()))
	return r, nil
}

// readRound returns the protocol that a round describes.
func readRound(r fl.Round) (GradientConfig, error) {
	if err := checkRound(r); err != nil {
		return GradientConfig{}, err
	}
	c := GradientConfig{
		Clients: r.MinReports, Capacity: capacity(r), Dim: r.Dim, Epsilon: r.Epsilon, Delta: r.Delta, Relation: r.Relation,
		ClipNorm: r.Scale,
	}
	levels, err := r.Params.Int(ParamLevels)
	if err != nil {
		return GradientConfig{}, err
	}
	c.Levels = int64(levels)
	if c.Range, err = r.Params.Real(ParamRange); err != nil {
		return GradientConfig{}, err
	}
	if c.Beta, err = r.Params.Real(ParamBeta); err != nil {
		return GradientConfig{}, err
	}
	if c.Base, err = named(r, ParamBase, ParseBase); err != nil {
		return GradientConfig{}, err
	}
	if c.Calibration, err = named(r, ParamCalibration, gkmps.ParseCalibration); err != nil {
		return GradientConfig{}, err
	}
	if c.Composition, err = named(r, ParamComposition, ParseComposition); err != nil {
		return GradientConfig{}, err
	}
	if c.Threshold, err = named(r, ParamSelect, parseSelect); err != nil {
		return GradientConfig{}, err
	}
	c.Key, err = r.PublicKey("hdsum/signs")
	return c, err
}

func checkRound(r fl.Round) error {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return fl.Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case r.Delta == 0:
		return fl.Invalid("delta", r.Delta, "must be > 0: this mechanism is (ε, δ)-DP in the shuffle model")
	case r.MinReports < 2:
		return fl.Invalid("min_reports", r.MinReports, "must be at least 2: the noise is spread over that many clients")
	}
	return r.Params.Only(ParamLevels, ParamRange, ParamBase, ParamCalibration, ParamComposition, ParamSelect, ParamBeta)
}

// capacity is the number of reports the modulus of BBGN has room for. A round may
// get more than its target when it closes with batches in flight.
func capacity(r fl.Round) int { return 2*max(r.MinReports, r.TargetReports) + 1024 }

// named reads a parameter that is one of a few names.
func named[T any](r fl.Round, param string, parse func(string) (T, error)) (T, error) {
	text, err := r.Params.Text(param)
	if err != nil {
		var zero T
		return zero, err
	}
	value, err := parse(text)
	if err != nil {
		return value, fmt.Errorf("%s: %w", param, err)
	}
	return value, nil
}

func parseSelect(name string) (threshold bool, err error) {
	switch name {
	case selectAll:
		return false, nil
	case selectThreshold:
		return true, nil
	}
	return false, fl.Invalid(ParamSelect, name, "must be %s or %s", selectAll, selectThreshold)
}
