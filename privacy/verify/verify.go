package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Method says how a guarantee is checked.
type Method string

const (
	// Auto is Exact where it is feasible, and Statistical otherwise.
	Auto        Method = "auto"
	Exact       Method = "exact"
	Statistical Method = "statistical"
)

// Options of a check. The zero value has the defaults.
type Options struct {
	Method Method // "" means Auto
	// Seeds is the number of hash functions of the exact method; 0 means 200.
	Seeds int
	// Limit bounds inputs × seeds × sequences of choices of the exact method; 0
	// means 2^24.
	Limit int
	// Samples is the number of reports (local model) or whole rounds (shuffle model)
	// drawn for each gradient by the statistical method; 0 means 10000, and as many
	// as are affordable in the shuffle model.
	Samples int
	// Confidence in (0, 1) is the probability with which a mechanism that keeps its
	// promise is not accused by the statistical method; 0 means 1 − 1e-6.
	Confidence float64
	// Time limits the check; 0 means no limit. A check that the limit ends says what holds after
	// the work that was done, see Report.Undecided. The limit of a menu is shared by its tiers.
	Time time.Duration
	// Rand draws seeds and reports; nil means fl.NewRand. The result is a function of
	// its state, unless Time ends the check.
	Rand *rand.Rand
	// Progress counts the steps of the check; nil counts nothing.
	Progress Progress
}

// Progress counts the steps of a check. It must be safe for concurrent use.
type Progress interface {
	Grow(steps int)
	Step()
}

type noProgress struct{}

func (noProgress) Grow(int) {}
func (noProgress) Step()    {}

const (
	defaultSeeds   = 200
	defaultLimit   = 1 << 24
	maxLimit       = 1 << 32
	defaultSamples = 10_000
	minSamples     = 100
	maxSamples     = 10_000_000
)

func (o Options) withDefaults() (Options, error) {
	o.Method = cmp.Or(o.Method, Auto)
	o.Seeds = cmp.Or(o.Seeds, defaultSeeds)
	o.Limit = cmp.Or(o.Limit, defaultLimit)
	o.Confidence = cmp.Or(o.Confidence, 1-1e-6)
	if o.Rand == nil {
		o.Rand = fl.NewRand()
	}
	o.Progress = cmp.Or[Progress](o.Progress, noProgress{})
	switch {
	case o.Method != Auto && o.Method != Exact && o.Method != Statistical:
		return o, fl.Invalid("method", string(o.Method), "must be auto, exact or statistical")
	case o.Seeds < 1:
		return o, fl.Invalid("seeds", o.Seeds, "must be at least 1")
	case o.Limit < 1 || o.Limit > maxLimit:
		return o, fl.Invalid("limit", o.Limit, "must be in [1, %d]", maxLimit)
	case o.Samples != 0 && (o.Samples < minSamples || o.Samples > maxSamples):
		return o, fl.Invalid("samples", o.Samples, "must be in [%d, %d]", minSamples, maxSamples)
	case o.Time < 0:
		return o, fl.Invalid("time", o.Time, "must be at least 0")
	case !(o.Confidence > 0 && o.Confidence < 1):
		return o, fl.Invalid("confidence", o.Confidence, "must be in (0, 1)")
	}
	return o, nil
}

// Round checks the mechanism that r describes. A round that leaves parameters open
// is completed first, and one without a public seed gets one; the report's notes say
// so. A round without privacy is a *fl.ParamError: it promises nothing.
//
// Cost: Mechanism's.
func Round(ctx context.Context, r fl.Round, o Options) (*Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	var notes []string
	if r.PublicSeed == [32]byte{} {
		for i := range r.PublicSeed {
			r.PublicSeed[i] = byte(o.Rand.Uint32())
		}
		notes = append(notes, "the round has no public seed; one was drawn")
	}
	m, err := fl.Open(r)
	if err != nil {
		if r, m, err = fl.Complete(r); err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		notes = append(notes, fmt.Sprintf("the round was completed to mechanism %s with %v", r.Mechanism, r.Params))
	}
	report, err := Mechanism(ctx, m, r, o)
	if report != nil {
		report.Notes = append(notes, report.Notes...)
	}
	return report, err
}

// Mechanism checks a mechanism against the promise of a complete round. What is
// promised is the stronger of the round's and of the mechanism's own guarantee. Each tier of an
// fl.TieredMechanism is checked against its own promise.
//
// Cost: o.Time and a few reports, at most. Without a limit: exact, inputs × seeds × sequences of
// choices, at most o.Limit; statistical, 8 gradients × samples reports and single-report estimates, or 5 × samples whole
// rounds of min_reports reports in the shuffle model; either for each tier.
func Mechanism(ctx context.Context, m fl.Mechanism, r fl.Round, o Options) (_ *Report, err error) {
	defer prefix.Error(&err, "verify")
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	if menu, ok := m.(fl.TieredMechanism); ok {
		return checkTiers(ctx, menu, r, o)
	}
	return checkOne(ctx, m, r, o)
}

// checkOne is Mechanism for a mechanism with one guarantee.
func checkOne(ctx context.Context, m fl.Mechanism, r fl.Round, o Options) (*Report, error) {
	g := m.Guarantee()
	if !g.Trust.Known() || g.Trust == fl.NoPrivacy {
		return nil, fl.Invalid("mechanism", r.Mechanism, "must promise privacy, its trust is %q", g.Trust)
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	promise := g
	promise.Epsilon, promise.Delta = min(g.Epsilon, r.Epsilon), min(g.Delta, r.Delta)
	if !(promise.Epsilon >= 0 && promise.Epsilon <= fl.MaxEpsilon) {
		return nil, fl.Invalid("epsilon", promise.Epsilon, "must be in [0, %d] to promise anything", fl.MaxEpsilon)
	}
	if r.Relation == fl.ReplaceOne {
		promise.Relation = fl.ReplaceOne
	}
	report := &Report{
		Round: r.ID, Mechanism: r.Mechanism, Promise: promise.String(),
		EpsilonPromised: Epsilon(promise.Epsilon), DeltaPromised: promise.Delta,
	}
	if !(g.Epsilon <= r.Epsilon && g.Delta <= r.Delta && (g.Relation == fl.ReplaceOne || g.Relation == r.Relation)) {
		report.fault("the mechanism's own guarantee is %v, which is weaker than the round's", g)
	}
	if g.RealNumbers {
		report.fault("the guarantee is proved for real numbers only, and floating-point code does not keep it")
	}
	limited := ctx
	if o.Time > 0 {
		var stop context.CancelFunc
		limited, stop = context.WithTimeout(ctx, o.Time)
		defer stop()
	}
	check := &check{mechanism: m, round: r, promise: promise, Options: o, report: report}
	if o.Method != Statistical {
		err := check.exact(ctx, limited)
		var why *infeasible
		switch {
		case err == nil:
			return check.close(), nil
		case !errors.As(err, &why):
			return nil, fmt.Errorf("exact: %w", err)
		case o.Method == Exact:
			return nil, fl.Invalid("method", string(o.Method), "must be feasible: %v", err)
		}
		report.note("not exact: %v", err)
	}
	if err := check.statistical(ctx, limited); err != nil {
		return nil, fmt.Errorf("statistical: %w", err)
	}
	return check.close(), nil
}

// check is one check under way.
type check struct {
	Options
	mechanism fl.Mechanism
	round     fl.Round
	promise   fl.Guarantee
	report    *Report
}

// close checks that gradients without a meaning are refused, unless there is a fault
// already, and returns the report.
func (c *check) close() *Report {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if len(c.report.Faults) > 0 {
			break
		}
		gradient := make([]float64, c.round.Dim)
		gradient[c.round.Dim-1] = bad
		if _, err := c.mechanism.Encode(nil, gradient, c.Rand); err == nil {
			c.report.fault("a gradient with a coordinate %v was encoded, must be refused", bad)
		}
	}
	sound := len(c.report.Faults) == 0
	c.report.Holds, c.report.Undecided = c.report.Holds && sound, c.report.Undecided && sound
	return c.report
}
