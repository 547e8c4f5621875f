package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/hdsum/internal/gaussian"
)

// Names of the registered mechanisms.
const (
	// Name is the sum of gradients for clients that trust a shuffler of single messages.
	Name = "sumdp"
	// SharesName is the sum of gradients by two servers, of which one has to be honest: each sees random bytes and the
	// noisy sum. The client sends two additive shares, see fl.SharedMechanism, and each server adds the whole Gaussian
	// noise. Its parameters are fl.ParamRecords, ParamProof, ParamOwnEpsilon, ParamHonestEpsilon and ParamHonestReports. The comment of package hdsum/internal/gaussian has the protocol, its calibration and its proof.
	SharesName = gaussian.SharesName
	// SiteName is the sum of gradients for clients that add the whole Gaussian noise themselves: whoever reads a report learns no more
	// than the Gaussian mechanism shows, and nobody has to be trusted. Use it for few clients with many records each, such as hospitals,
	// with fl.ParamRecords, its only parameter. For records of one client alone the error of a mean is local noise.
	SiteName = gaussian.SiteName
)

// Names of parameters in Round.Params, for Name.
const (
	ParamLevels      = "levels"      // GradientConfig.Levels, integer
	ParamRange       = "range"       // GradientConfig.Range, real
	ParamBase        = "base"        // Config.Base: auto, gkmps or bbgn
	ParamCalibration = "calibration" // published, certified or tight
	ParamComposition = "composition" // tight or paper
	ParamSelect      = "select"      // all, or threshold with beta
	ParamBeta        = "beta"        // GradientConfig.Beta, real
)

// ParamProof is the name of SharesName's parameter that has each client prove that its vector is short: a client who lies then
// shifts a mean of n gradients by at most 1.42 times the clip over n, 1.74 times with up to 32 coordinates: as far as an honest client may. The noise is larger
// by the same factor. Its only value is ProofPrio3. Shares are about 50 times as long.
const (
	ParamProof = gaussian.ParamProof
	ProofPrio3 = gaussian.Prio3
)

// ParamOwnEpsilon is the name of SharesName's parameter that has each client add noise of its own before it shares its vector. Its value is
// the ε of a report at Round.Delta, against everybody: both servers together included. It is at least Round.Epsilon, which holds against
// either server. The noises add up: the sum of n reports has two servers' and n clients'. See fl.OwnNoised.
const ParamOwnEpsilon = gaussian.ParamOwnEpsilon

// ParamHonestEpsilon and ParamHonestReports are the names of SharesName's parameters that have clients add a part of the noise. The
// servers' noise keeps Round.Epsilon against either server, whatever clients do. ParamHonestEpsilon, which is smaller, holds against either
// server if at least ParamHonestReports of the reports that are counted are of honest clients: an integer from 1 to Round.MinReports. A sum of n reports has
// less noise than one for ParamHonestEpsilon by the servers alone. See fl.HonestNoised.
const (
	ParamHonestEpsilon = gaussian.ParamHonestEpsilon
	ParamHonestReports = gaussian.ParamHonestReports
)

// Values of ParamSelect.
const (
	selectAll       = "all"
	selectThreshold = "threshold"
)

// defaults are for rounds that leave a parameter open. One level has the least noise:
// rounding to it is negligible beside the noise, and further sub-domains would
// bring theirs.
var defaults = fl.Params{
	ParamLevels:      fl.Int(1),
	ParamRange:       fl.Real(2),
	ParamCalibration: fl.Text(CalibrationCertified.String()),
	ParamComposition: fl.Text(Tight.String()),
	ParamSelect:      fl.Text(selectAll),
	ParamBeta:        fl.Real(0.1),
}

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	c, err := readRound(r)
	if err != nil {
		return nil, fmt.Errorf("sumdp: %w", err)
	}
	return newMechanism(r, c)
}

// Complete implements fl.Completer. The protocol is the one with the shorter
// reports: a client's messages travel as one multiset, in which many equal
// messages cost no more than one.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	for name, value := range defaults {
		if !r.Params.Has(name) {
			r.Params = r.Params.With(name, value)
		}
	}
	if r.Params.Has(ParamBase) {
		return r, nil
	}
	least := math.Inf(1)
	var best fl.Round
	for _, base := range []Protocol{GKMPS, BBGN} {
		trial := r
		trial.Params = r.Params.With(ParamBase, fl.Text(base.String()))
		c, err := readRound(trial)
		if err != nil {
			return fl.Round{}, fmt.Errorf("sumdp: %w", err)
		}
		sum, err := NewGradientSum(c)
		if err != nil {
			return fl.Round{}, err
		}
		if bytes := sum.Cost().Bytes; bytes < least {
			least, best = bytes, trial
		}
	}
	return best, nil
}

// readRound returns the sum that a round describes.
func readRound(r fl.Round) (c GradientConfig, err error) {
	if err := checkRound(r); err != nil {
		return c, err
	}
	c.Config = Config{Clients: r.MinReports, Capacity: capacity(r), Epsilon: r.Epsilon, Delta: r.Delta, Relation: r.Relation}
	c.Dim, c.ClipNorm = r.Dim, r.Scale
	levels, err := r.Params.Int(ParamLevels)
	if err != nil {
		return c, err
	}
	c.Levels = int64(levels)
	if c.Range, err = r.Params.Real(ParamRange); err != nil {
		return c, err
	}
	if c.Beta, err = r.Params.Real(ParamBeta); err != nil {
		return c, err
	}
	if c.Base, err = named(r, ParamBase, ParseProtocol); err != nil {
		return c, err
	}
	if c.Calibration, err = named(r, ParamCalibration, ParseCalibration); err != nil {
		return c, err
	}
	if c.Composition, err = named(r, ParamComposition, ParseComposition); err != nil {
		return c, err
	}
	if c.Threshold, err = named(r, ParamSelect, parseSelect); err != nil {
		return c, err
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
func named[T any](r fl.Round, param string, parse func(string) (T, error)) (value T, err error) {
	text, err := r.Params.Text(param)
	if err != nil {
		return value, err
	}
	return parse(text)
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

// mechanism is the GradientSum of a round, with Round.Scale as the clip norm and
// Round.MinReports as the number of clients: with more reports there is more
// noise, and fewer are never decoded.
type mechanism struct {
	round *count.Round
	sum   *GradientSum
	codec *codec
}

var (
	_ fl.Mechanism = (*mechanism)(nil)
	_ fl.Coster    = (*mechanism)(nil)
	_ fl.Adviser   = (*mechanism)(nil)
)

func newMechanism(r fl.Round, c GradientConfig) (*mechanism, error) {
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	sum, err := NewGradientSum(c)
	if err != nil {
		return nil, err
	}
	m := &mechanism{round: round, sum: sum}
	m.codec, err = newCodec(sum.instances, sum.entryLimit())
	return m, err
}

// Encode implements fl.Mechanism: clip to L2 norm Scale, rotate, round, randomize.
// Expected time O(d' log d' + entries · log entries).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	messages, err := m.sum.Encode(grad, rng)
	if err != nil {
		return dst, err
	}
	if len(messages) > m.codec.maxEntries {
		return dst, fmt.Errorf("sumdp: encode: %w", fl.Invalid("messages", len(messages), "must be at most %d entries, try again", m.codec.maxEntries))
	}
	return m.codec.append(dst, messages), nil
}

// NewAggregator implements fl.Mechanism.
func (m *mechanism) NewAggregator() fl.Aggregator {
	return count.New(m.round, func() *tally { return &tally{mechanism: m, sums: m.sum.NewSums()} })
}

// Guarantee implements fl.Mechanism. It holds in the shuffle model only: a party that
// reads one client's report learns its gradient. It is proved for the exact law of the noise, from
// which the samplers differ a little (package comment, "What is not exact").
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Shuffle, Epsilon: m.round.Epsilon, Delta: m.round.Delta, Relation: m.round.Relation}
}

// StandardError bounds the standard error of a coordinate of the mean of a number of reports with one gradient each.
func (m *mechanism) StandardError(_, reports int) float64 {
	return m.sum.standardError(int64(reports)) / float64(reports)
}

// Cost implements fl.Coster: the noise, and with GKMPS the messages of a gradient of
// norm Scale, before zstd.
func (m *mechanism) Cost() fl.Cost {
	const ownBytes = 3 // about the length of an entry for a message that is not noise
	c, own := m.sum.Cost(), m.sum.ownMessages()
	return fl.Cost{Messages: c.Messages + own, Bytes: c.Bytes + ownBytes*own}
}

// Advice implements fl.Adviser.
func (m *mechanism) Advice() []string {
	if m.sum.threshold || m.sum.quantizer.Levels() == 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s = %d with %s = %q adds the noise of %d sub-domains; 1 level has less",
		ParamLevels, m.sum.quantizer.Levels(), ParamSelect, selectAll, len(m.sum.domains.bounds))}
}
