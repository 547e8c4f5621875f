package pckv

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// aggregator counts, per key, the reports that show it with + and with −.
type aggregator struct {
	mechanism   *mechanism
	reports     int64
	plus, minus []uint32
}

var (
	_ fl.KeyValueAggregator = (*aggregator)(nil)
	_ fl.BatchAdder         = (*aggregator)(nil)
)

func (a *aggregator) Add(report []byte) error {
	if err := a.mechanism.read(report, nil); err != nil {
		return a.mechanism.wrap("add", err)
	}
	if err := a.makeRoom(1); err != nil {
		return err
	}
	return a.count(report)
}

// AddBatch implements fl.BatchAdder: it checks everything before it counts anything.
func (a *aggregator) AddBatch(reports [][]byte) error {
	for i, report := range reports {
		if err := a.mechanism.read(report, nil); err != nil {
			return &fl.BatchError{Index: i, Err: a.mechanism.wrap("add", err)}
		}
	}
	if err := a.makeRoom(int64(len(reports))); err != nil {
		return err
	}
	for _, report := range reports {
		if err := a.count(report); err != nil {
			return err
		}
	}
	return nil
}

// count counts a checked report.
func (a *aggregator) count(report []byte) error {
	a.reports++
	return a.mechanism.read(report, func(key int, minus bool) {
		if minus {
			a.minus[key]++
		} else {
			a.plus[key]++
		}
	})
}

// makeRoom refuses more reports than the counters hold.
func (a *aggregator) makeRoom(n int64) error {
	if a.reports+n > fl.MaxReports {
		return a.mechanism.wrap("add", fl.Invalid("reports", a.reports+n, "an aggregator counts at most %d", fl.MaxReports))
	}
	return nil
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || o.mechanism.digest != a.mechanism.digest {
		return a.mechanism.wrap("merge", fmt.Errorf("the aggregators belong to different rounds"))
	}
	if err := a.makeRoom(o.reports); err != nil {
		return err
	}
	for j := range a.plus {
		a.plus[j] += o.plus[j]
		a.minus[j] += o.minus[j]
	}
	a.reports += o.reports
	return nil
}
