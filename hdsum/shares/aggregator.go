package shares

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/idset"
)

// aggregator implements fl.Aggregator: both servers in one, for reports of both shares.
type aggregator struct {
	mechanism *mechanism
	total
}

var _ fl.BatchAdder = (*aggregator)(nil)

// NewAggregator implements fl.Mechanism.
func (m *mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{mechanism: m, total: m.newTotal()}
}

func (a *aggregator) Add(report []byte) error {
	if err := a.check(report); err != nil {
		return err
	}
	a.count(report)
	return nil
}

func (a *aggregator) check(report []byte) error {
	m := a.mechanism
	if len(report) != m.ReportBytes() {
		return bad("report", fmt.Sprintf("%d bytes", len(report)), "must have %d", m.ReportBytes())
	}
	return m.checkShare(fl.SecondServer, report[seedBytes:])
}

// count adds a report that has been checked.
func (a *aggregator) count(report []byte) {
	ring := a.mechanism.ring
	ring.add(a.sums, ring.expand(report[:seedBytes]))
	ring.add(a.sums, report[seedBytes:])
	a.reports++
}

// AddBatch implements fl.BatchAdder: it checks everything before it counts anything.
func (a *aggregator) AddBatch(reports [][]byte) error {
	for i, report := range reports {
		if err := a.check(report); err != nil {
			return &fl.BatchError{Index: i, Err: err}
		}
	}
	for _, report := range reports {
		a.count(report)
	}
	return nil
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || a.mechanism.round.CheckSame(o.mechanism.round) != nil {
		return fmt.Errorf("%s: merge: %w", Name, fl.Invalid("aggregator", "one of another round", "must belong to the same round"))
	}
	a.merge(&o.total)
	return nil
}

// Estimate implements fl.Aggregator. The standard errors are the noise's, and an
// upper bound for the rounding. O(d' log d').
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	e, err := a.mechanism.estimate(&a.total)
	if err != nil {
		return nil, fmt.Errorf("%s: estimate: %w", Name, err)
	}
	return e, nil
}

func (a *aggregator) MarshalBinary() ([]byte, error) {
	return a.mechanism.encode(both, &a.total, new(idset.Digest))
}

func (a *aggregator) UnmarshalBinary(data []byte) error {
	t, _, err := a.mechanism.decode(both, data)
	if err != nil {
		return fmt.Errorf("%s: aggregator snapshot: %w", Name, err)
	}
	a.total = t
	return nil
}
