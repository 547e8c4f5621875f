package fl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// sum is the smallest mechanism there is: a report is one byte.
type sum struct{ total, reports int64 }

func (*sum) Encode(dst []byte, grad []float64, _ *rand.Rand) ([]byte, error) {
	return append(dst, byte(grad[0])), nil
}
func (*sum) NewAggregator() Aggregator { return &sum{} }
func (*sum) Guarantee() Guarantee      { return Guarantee{Model: NoPrivacy} }
func (s *sum) Add(report []byte) error {
	if len(report) != 1 {
		return fmt.Errorf("sum: %w", ErrBadReport)
	}
	s.total += int64(report[0])
	s.reports++
	return nil
}
func (s *sum) Merge(o Aggregator) error {
	s.total += o.(*sum).total
	s.reports += o.(*sum).reports
	return nil
}
func (s *sum) Estimate() (*Estimate, error)   { return &Estimate{Reports: s.reports}, nil }
func (s *sum) MarshalBinary() ([]byte, error) { return binary.AppendVarint(nil, s.total), nil }
func (s *sum) UnmarshalBinary(b []byte) error { s.total, _ = binary.Varint(b); return nil }

type sumFactory struct{}

func (sumFactory) Open(r Round) (Mechanism, error) {
	if _, err := r.Params.Int("weight"); err != nil {
		return nil, err
	}
	return &sum{}, nil
}

func (sumFactory) Complete(r Round) (Round, error) {
	r.Params = r.Params.With("weight", Int(7))
	return r, nil
}

func TestRegistry(t *testing.T) {
	once := unusedName()
	Register(once, sumFactory{})
	twice := unusedName()
	Register(twice, sumFactory{})
	Register(twice, sumFactory{})
	if !slices.Contains(Mechanisms(), once) {
		t.Errorf("Mechanisms() = %v", Mechanisms())
	}
	r := fullRound()
	r.Relation = 0
	for _, name := range []string{"test-none", twice} {
		r.Mechanism = name
		var p *ParamError
		if _, err := Complete(r); !errors.As(err, &p) || p.Param != "mechanism" {
			t.Errorf("%s: error %v, want one about the mechanism", name, err)
		}
	}
	r.Mechanism = once
	done, err := Complete(r)
	if err != nil || done.Params["weight"] != Int(7) || done.Relation != ReplaceOne {
		t.Errorf("Complete gave %+v, %v", done, err)
	}
	if r.Params.Has("weight") {
		t.Error("Complete changed its argument")
	}
	if _, err := Open(done); err != nil {
		t.Error(err)
	}
	if _, err := Open(fullRoundOf(once)); err == nil {
		t.Error("opened a round without its parameter")
	}
}

func fullRoundOf(mechanism string) Round {
	r := fullRound()
	r.Mechanism = mechanism
	return r
}

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
