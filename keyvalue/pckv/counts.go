package pckv

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Counts is what so many reports show: per key, how many show it with + and how many
// with −. Both slices have dim entries.
type Counts struct {
	Reports     int64
	Plus, Minus []uint32
}

// AddCounts adds counts that were taken elsewhere to an aggregator of this package, as if
// their reports had been added to it: of a server that keeps its own counters, or of a
// simulation that draws the counts from their law. It returns a *fl.ParamError
// (wrapped), and changes nothing, when agg is of another package, when the slices do not
// have dim entries, and when so many reports cannot show the counts: none shows a
// key twice, and those of PCKV-GRR show one key at most. O(dim).
func AddCounts(agg fl.Aggregator, c Counts) error {
	a, ok := agg.(*aggregator)
	if !ok {
		return fmt.Errorf("pckv: add counts: %w", fl.Invalid("agg", fmt.Sprintf("%T", agg), "must be an aggregator of this package"))
	}
	if err := a.check(c); err != nil {
		return a.mechanism.wrap("add counts", err)
	}
	if err := a.makeRoom(c.Reports); err != nil {
		return err
	}
	for j := range a.plus {
		a.plus[j] += c.Plus[j]
		a.minus[j] += c.Minus[j]
	}
	a.reports += c.Reports
	return nil
}

// check tells whether the reports of a round can show the counts.
func (a *aggregator) check(c Counts) error {
	switch {
	case c.Reports < 0 || c.Reports > fl.MaxReports:
		return fl.Invalid("reports", c.Reports, "must be in [0, %d]", fl.MaxReports)
	case len(c.Plus) != len(a.plus):
		return fl.Invalid("plus", len(c.Plus), "must have dim = %d entries", len(a.plus))
	case len(c.Minus) != len(a.minus):
		return fl.Invalid("minus", len(c.Minus), "must have dim = %d entries", len(a.minus))
	}
	_, single := a.mechanism.randomizer.(*response)
	left := c.Reports
	for j := range c.Plus {
		shown := int64(c.Plus[j]) + int64(c.Minus[j])
		if shown > left {
			return fl.Invalid("counts", shown, "must be at most %d for key %d, of %d reports", left, j, c.Reports)
		}
		if single {
			left -= shown
		}
	}
	return nil
}
