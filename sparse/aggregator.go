package sparse

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/slothash"
)

// aggregator implements fl.SparseAggregator.
type aggregator struct {
	mechanism *mechanism
	tally     slothash.Tally
	reports   int64
}

var (
	_ fl.SparseAggregator = (*aggregator)(nil)
	_ fl.BatchAdder       = (*aggregator)(nil)
)

func (a *aggregator) Add(report []byte) error {
	r, err := a.mechanism.codec.Parse(report)
	if err != nil {
		return fmt.Errorf("%s: %w", a.mechanism.scheme.Round.Mechanism, err)
	}
	if err := a.makeRoom(1); err != nil {
		return err
	}
	a.tally.Add(r.Seed, r.Slot)
	a.reports++
	return nil
}

// makeRoom refuses more reports than the counters hold.
func (a *aggregator) makeRoom(n int64) error {
	if a.reports+n > slothash.MaxReports {
		return fmt.Errorf("%s: %w", a.mechanism.scheme.Round.Mechanism,
			fl.Invalid("reports", a.reports+n, "an aggregator counts at most %d", int64(slothash.MaxReports)))
	}
	return nil
}

// AddBatch implements fl.BatchAdder: it parses everything before it counts
// anything.
func (a *aggregator) AddBatch(reports [][]byte) error {
	parsed := make([]slothash.Report, len(reports))
	for i, report := range reports {
		r, err := a.mechanism.codec.Parse(report)
		if err != nil {
			return &fl.BatchError{Index: i, Err: fmt.Errorf("%s: %w", a.mechanism.scheme.Round.Mechanism, err)}
		}
		parsed[i] = r
	}
	if err := a.makeRoom(int64(len(parsed))); err != nil {
		return err
	}
	for _, r := range parsed {
		a.tally.Add(r.Seed, r.Slot)
	}
	a.reports += int64(len(parsed))
	return nil
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || o.mechanism.digest != a.mechanism.digest {
		return fmt.Errorf("%s: merge: the aggregators belong to different rounds", a.mechanism.scheme.Round.Mechanism)
	}
	if err := a.makeRoom(o.reports); err != nil {
		return err
	}
	if err := a.tally.Merge(o.tally); err != nil {
		return err
	}
	a.reports += o.reports
	return nil
}

// mean estimates the mean ternary vector.
func (a *aggregator) mean() (*fl.Series, error) {
	return a.series(func(c Calibration, k counts) (value, variance float64) {
		// The variance of one report's estimate over the sampling of coordinates
		// and the randomizer, E[Y²] − E[Y]², with the estimated support plugged in.
		in, out := c.MeanVariance()
		support := c.clampedSupport(k)
		value = c.mean(k)
		clipped := min(math.Abs(value), support)
		return value, support*(in+1) + (1-support)*out - clipped*clipped
	})
}

func (a *aggregator) Estimate() (*fl.Estimate, error) {
	mean, err := a.mean()
	if err != nil {
		return nil, err
	}
	scale := a.mechanism.scheme.Round.Scale
	for j := range mean.Value {
		mean.Value[j] *= scale
		mean.StdErr[j] *= scale
	}
	return &fl.Estimate{
		Series:    *mean,
		Reports:   a.reports,
		Mechanism: a.mechanism.scheme.Round.Mechanism,
		Guarantee: a.mechanism.Guarantee(),
	}, nil
}

func (a *aggregator) Support() (*fl.Series, error) {
	if err := a.checkSupport(); err != nil {
		return nil, err
	}
	return a.series(func(c Calibration, k counts) (value, variance float64) {
		in, out := c.SupportVariance()
		support := c.clampedSupport(k)
		return c.support(k), support*in + (1-support)*out + support*(1-support)
	})
}

func (a *aggregator) Frequencies() (plus, minus *fl.Series, err error) {
	if err := a.checkSupport(); err != nil {
		return nil, nil, err
	}
	if plus, err = a.series(frequency); err != nil {
		return nil, nil, err
	}
	minus, err = a.series(func(c Calibration, k counts) (value, variance float64) {
		return frequency(c, counts{plus: k.minus, minus: k.plus, n: k.n})
	})
	return plus, minus, err
}

// checkSupport refuses what the reports of this round cannot tell.
func (a *aggregator) checkSupport() error {
	if scheme := a.mechanism.scheme; !scheme.Calibration.tellsSupport() {
		return fmt.Errorf("%s: support: %w", scheme.Round.Mechanism, fl.Invalid(ParamSlots, scheme.Slots,
			"must be above 2·sparsity = %d for anything but the mean", 2*scheme.Sparsity))
	}
	return nil
}

// frequency estimates the fraction of clients with the + item.
func frequency(c Calibration, k counts) (value, variance float64) {
	own, opposite, out := c.FrequencyVariance()
	value = (c.support(k) + c.mean(k)) / 2
	support := c.clampedSupport(k)
	f := min(max(value, 0), support)
	return value, f*own + (support-f)*opposite + (1-support)*out + f*(1-f)
}

// series applies an estimator to every coordinate. The estimator returns the
// variance of a single report.
func (a *aggregator) series(estimate func(Calibration, counts) (value, variance float64)) (*fl.Series, error) {
	if a.reports == 0 {
		return nil, fmt.Errorf("%s: estimate: %w", a.mechanism.scheme.Round.Mechanism, fl.ErrNoReports)
	}
	plus, minus := a.tally.Counts()
	s := &fl.Series{Value: make([]float64, len(plus)), StdErr: make([]float64, len(plus))}
	n := float64(a.reports)
	for j := range plus {
		k := counts{plus: float64(plus[j]), minus: float64(minus[j]), n: n}
		value, variance := estimate(a.mechanism.scheme.Calibration, k)
		s.Value[j], s.StdErr[j] = value, math.Sqrt(variance/n)
	}
	return s, nil
}
