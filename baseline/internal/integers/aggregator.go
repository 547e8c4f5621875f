package integers

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

type aggregator struct {
	mechanism *Mechanism
	reports   int64
	sum       []int64
}

var _ fl.BatchAdder = (*aggregator)(nil)

func (a *aggregator) Add(report []byte) error {
	if err := a.check(report); err != nil {
		return err
	}
	if err := a.makeRoom(1); err != nil {
		return err
	}
	a.count(report)
	return nil
}

// AddBatch implements fl.BatchAdder: it checks everything before it counts anything.
func (a *aggregator) AddBatch(reports [][]byte) error {
	for i, report := range reports {
		if err := a.check(report); err != nil {
			return &fl.BatchError{Index: i, Err: err}
		}
	}
	if err := a.makeRoom(int64(len(reports))); err != nil {
		return err
	}
	for _, report := range reports {
		a.count(report)
	}
	return nil
}

func (a *aggregator) check(report []byte) error {
	if want := a.mechanism.ReportBytes(); len(report) != want {
		return a.mechanism.wrap("add", fmt.Errorf("%w: length: got %d bytes, must be 2·dim = %d", fl.ErrBadReport, len(report), want))
	}
	return nil
}

func (a *aggregator) count(report []byte) {
	for j := range a.sum {
		a.sum[j] += int64(int16(binary.LittleEndian.Uint16(report[2*j:])))
	}
	a.reports++
}

// makeRoom refuses more reports than fl.MaxReports, with which sums stay below 2^45.
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
	for j := range a.sum {
		a.sum[j] += o.sum[j]
	}
	a.reports += o.reports
	return nil
}

// Estimate implements fl.Aggregator. The variance of a report is public, and so is the
// standard error.
func (a *aggregator) Estimate() (*fl.Estimate, error) {
	m := a.mechanism
	if a.reports == 0 {
		return nil, m.wrap("estimate", fl.ErrNoReports)
	}
	e := &fl.Estimate{
		Series:    fl.Series{Value: make([]float64, len(a.sum)), StdErr: make([]float64, len(a.sum))},
		Reports:   a.reports,
		Mechanism: m.Round.Mechanism,
		Guarantee: m.Promise,
	}
	n := float64(a.reports)
	se := m.Step * math.Sqrt(m.Variance/n)
	for j, sum := range a.sum {
		e.Value[j] = m.Step * (float64(sum)/n + 0.5)
		e.StdErr[j] = se
	}
	return e, nil
}
