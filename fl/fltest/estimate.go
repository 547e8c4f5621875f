package fltest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// estimateNeedsReports: none is an error, and so are fewer than the round asks for.
func (s *suite) estimateNeedsReports() error {
	empty := s.mechanism.NewAggregator()
	if _, err := empty.Estimate(); !errors.Is(err, fl.ErrNoReports) {
		return fmt.Errorf("without reports: error %v, want one that wraps fl.ErrNoReports", err)
	}
	least := s.round.MinReports
	agg := s.filled(s.reports[:least-1])
	if least > 1 {
		var p *fl.ParamError
		switch _, err := agg.Estimate(); {
		case err == nil:
			return fmt.Errorf("of %d reports, although min_reports is %d", least-1, least)
		case !errors.Is(err, fl.ErrTooFewReports) || !errors.As(err, &p) || p.Param != "reports":
			return fmt.Errorf("of %d reports, where min_reports is %d: error %w, want the error of Round.CheckReports", least-1, least, err)
		}
	}
	fail(agg.Add(s.reports[least-1]))
	if _, err := agg.Estimate(); err != nil {
		return fmt.Errorf("of min_reports = %d reports: %w", least, err)
	}
	return nil
}

// estimateIsWhole: the mean and the round's columns are there, with a finite number for
// every coordinate.
func (s *suite) estimateIsWhole() error {
	e := must(s.filled(s.reports).Estimate())
	if want := append([]string{fl.ColumnMean}, s.round.Columns...); !slices.Equal(names(e), want) {
		return fmt.Errorf("columns %q, want %q", names(e), want)
	}
	if e.Reports != int64(len(s.reports)) || e.Mechanism != s.round.Mechanism {
		return fmt.Errorf("%d reports of %q, want %d of %q", e.Reports, e.Mechanism, len(s.reports), s.round.Mechanism)
	}
	if _, tiered := s.mechanism.(fl.TieredMechanism); !tiered && (e.Guarantee != s.mechanism.Guarantee() || e.Tiers != nil) {
		return fmt.Errorf("guarantee %v with %d tiers, want %v without", e.Guarantee, len(e.Tiers), s.mechanism.Guarantee())
	}
	for _, c := range e.Columns {
		if len(c.Value) != s.round.Dim || c.StdErr != nil && len(c.StdErr) != s.round.Dim {
			return fmt.Errorf("column %q: %d values and %d standard errors, want dim = %d", c.Name, len(c.Value), len(c.StdErr), s.round.Dim)
		}
		if slices.ContainsFunc(c.StdErr, func(v float64) bool { return v < 0 }) {
			return fmt.Errorf("column %q: a negative standard error", c.Name)
		}
		if c.Name == fl.ColumnConditional {
			if c.StdErr != nil || slices.ContainsFunc(c.Value, func(v float64) bool { return math.Abs(v) > s.round.Scale*(1+roundoff) }) {
				return fmt.Errorf("column %q: want values of at most the scale %g and no standard errors", c.Name, s.round.Scale)
			}
		}
	}
	if stdErr := e.Mean().StdErr; !(e.NoiseNorm >= 0) && len(stdErr) > 0 || math.IsInf(e.NoiseNorm, 1) {
		return fmt.Errorf("the norm of the noise is %v, want a finite number ≥ 0", e.NoiseNorm)
	}
	return finite(e)
}

// estimateChangesNothing: not the aggregator, and what the caller does with an estimate is
// the caller's business.
func (s *suite) estimateChangesNothing() error {
	agg := s.filled(s.reports)
	var first *fl.Estimate
	if err := unchanged(func() (err error) { first, err = agg.Estimate(); return err }, agg); err != nil {
		return err
	}
	other := s.filled(s.reports)
	again, err := agg.Estimate()
	if err != nil {
		return fmt.Errorf("a second time: %w", err)
	}
	if err := compare(again, first, 0); err != nil {
		return fmt.Errorf("a second time: %w", err)
	}
	for _, c := range again.Columns {
		clear(c.Value)
		clear(c.StdErr)
	}
	if err := compareAggregators(agg, other, 0); err != nil {
		return fmt.Errorf("after the caller changed one: %w", err)
	}
	return nil
}

// estimateGoesOn: reports are counted after an estimate as before.
func (s *suite) estimateGoesOn() error {
	agg, want := s.filled(s.reports), s.filled(s.reports)
	must(agg.Estimate())
	for _, report := range s.reports[:samples] {
		if err := cmp.Or(agg.Add(report), want.Add(report)); err != nil {
			return fmt.Errorf("Add after an estimate: %w", err)
		}
	}
	if err := compareAggregators(agg, want, 0); err != nil {
		return fmt.Errorf("Add after an estimate: %w", err)
	}
	return nil
}
