package fl

import (
	"errors"
	"testing"
)

func TestAddBatchCountsAllOrNothing(t *testing.T) {
	m := &sum{}
	agg := &sum{}
	if err := AddBatch(m, agg, [][]byte{{1}, {2}}); err != nil || agg.total != 3 || agg.reports != 2 {
		t.Errorf("total %d of %d reports, %v", agg.total, agg.reports, err)
	}
	err := AddBatch(m, agg, [][]byte{{4}, {}, {5}})
	var b *BatchError
	if !errors.As(err, &b) || b.Index != 1 || !errors.Is(err, ErrBadReport) {
		t.Errorf("error %v, want a BatchError for reports[1]", err)
	}
	if agg.total != 3 || agg.reports != 2 {
		t.Errorf("after a refused batch: total %d of %d reports", agg.total, agg.reports)
	}
}

// batchSum is sum with a way of its own to take a batch.
type batchSum struct {
	sum
	batches int
}

func (s *batchSum) AddBatch(reports [][]byte) error {
	s.batches++
	return AddBatch(&s.sum, &s.sum, reports)
}

func TestAddBatchUsesBatchAdder(t *testing.T) {
	agg := &batchSum{}
	if err := AddBatch(&sum{}, agg, [][]byte{{1}, {2}}); err != nil || agg.batches != 1 || agg.total != 3 {
		t.Errorf("total %d after %d batches, %v", agg.total, agg.batches, err)
	}
	err := error(&BatchError{Index: 4, Err: ErrBadReport})
	if !errors.Is(err, ErrBadReport) || err.Error() != "reports[4]: bad report" {
		t.Errorf("a BatchError is printed as %q", err)
	}
}

func TestTooFewReportsAreNamed(t *testing.T) {
	r := Round{MinReports: 3}
	for reports, want := range map[int64]string{
		0: "no reports", 1: "too few reports: reports: got 1, rule: must be at least min_reports, 3", 2: "too few reports: reports: got 2, rule: must be at least min_reports, 3",
	} {
		err := r.CheckReports(reports)
		var p *ParamError
		few := errors.Is(err, ErrTooFewReports) && errors.As(err, &p) && p.Param == "reports"
		if err == nil || err.Error() != want || errors.Is(err, ErrNoReports) != (reports == 0) || few != (reports > 0) {
			t.Errorf("%d reports: %v, want %q", reports, err, want)
		}
	}
	for _, reports := range []int64{3, 4, MaxReports} {
		if err := r.CheckReports(reports); err != nil {
			t.Errorf("%d reports: %v", reports, err)
		}
	}
}
