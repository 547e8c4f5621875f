package rivals

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// One aggregator, a batch, and two merged halves in another order have the same
// snapshot, and a restored one the same estimates.
func TestSuccinctSplitAndOrderDoNotMatter(t *testing.T) {
	m := succinctOpen(t, 5, 1, twoOfFive)
	all := succinctReports(t, m, 200)
	one, batch, left, right := m.NewAggregator(), m.NewAggregator(), m.NewAggregator(), m.NewAggregator()
	for i, r := range all {
		if len(r) != m.ReportBytes() {
			t.Fatalf("report of %d bytes, want %d", len(r), m.ReportBytes())
		}
		side := left
		if i%3 == 0 {
			side = right
		}
		if err := errors.Join(one.Add(r), side.Add(all[len(all)-1-i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(fl.AddBatch(m, batch, all), right.Merge(left)); err != nil {
		t.Fatal(err)
	}
	want, err := one.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, agg := range []fl.Aggregator{batch, right} {
		if got, err := agg.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("another snapshot, %v", err)
		}
	}
	back := m.NewAggregator()
	if err := back.UnmarshalBinary(want); err != nil {
		t.Fatal(err)
	}
	a, errA := one.Estimate()
	b, errB := back.Estimate()
	if errA != nil || errB != nil || !reflect.DeepEqual(a, b) || a.Reports != 200 || a.Mechanism != Succinct ||
		a.Guarantee != (fl.Guarantee{Trust: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne}) {
		t.Errorf("%+v and %+v, %v, %v", a, b, errA, errB)
	}
	if m.NewAggregator().Merge(succinctOpen(t, 6, 1, twoOfFive).NewAggregator()) == nil {
		t.Error("merging another round: want an error")
	}
}

func TestSuccinctBadReportsChangeNothing(t *testing.T) {
	m := succinctOpen(t, 5, 1, twoOfFive)
	agg, good := m.NewAggregator(), succinctReports(t, m, 1)[0]
	for _, bad := range [][]byte{nil, good[:4], good[:len(good)-1], append(bytes.Clone(good), 0)} {
		if err := agg.Add(bad); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("% x: %v, want ErrBadReport", bad, err)
		}
		var batch *fl.BatchError
		if err := fl.AddBatch(m, agg, [][]byte{good, bad}); !errors.As(err, &batch) || batch.Index != 1 || !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("% x in a batch: %v", bad, err)
		}
	}
	if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
		t.Errorf("estimate: %v, want ErrNoReports", err)
	}
}

// One report of the limit ±127 has the square 16129, 0x81 0x7e as an uvarint; −127 is
// 0xfd 0x01 as a varint.
func TestSnapshots(t *testing.T) {
	m := succinctOpen(t, 1, 20, fl.Params{ParamSparsity: fl.Int(1)})
	if m.codec.bytes != 1 {
		t.Fatalf("%d bytes, want 1", m.codec.bytes)
	}
	agg := m.NewAggregator().(*count.Aggregator[sketch, *sums])
	restore := func(payload ...byte) error {
		return agg.UnmarshalBinary(fltest.Snapshot(t, m.round.Round, payload))
	}
	if err := restore(1, 0, 0x81, 0x7e, 0xfd, 0x01); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{
		nil, {1, 0, 1}, {1, 0, 1, 2, 0}, {0, 0, 1, 0}, {0, 0, 0, 2}, {1, 0, 0x82, 0x7e, 0}, {1, 1, 0, 0},
		{1, 0, 0, 0x80, 0x02}, {0x80, 0x94, 0xeb, 0xdc, 0x13, 0, 0, 0}, {1, 0, 1, 0x80},
	} {
		if restore(bad...) == nil {
			t.Errorf("% x: want an error", bad)
		}
	}
	if s := agg.State(); s.squares.lo != 16129 || s.keys[0] != -127 {
		t.Errorf("after the refusals: %+v", s)
	}
	if e, err := agg.Estimate(); err != nil || e.Reports != 1 {
		t.Errorf("after the refusals: %+v, %v", e, err)
	}
	// 10^9 reports of the largest square do not fit 64 bits.
	big := uint128{lo: 1 << 63}
	if sum := big.plus(big).plus(uint128{hi: 1, lo: 5}); sum != (uint128{hi: 2, lo: 5}) || sum.float() != 0x1p65+5 {
		t.Errorf("2^63 + 2^63 + 2^64 + 5 = %+v", sum)
	}
}

// An aggregator that has counted fl.MaxReports takes no more.
func TestSuccinctFullAggregatorsRefuseMore(t *testing.T) {
	m := succinctOpen(t, 1, 20, fl.Params{ParamSparsity: fl.Int(1)})
	data := fltest.Snapshot(t, m.round.Round, append(binary.AppendUvarint(nil, fl.MaxReports), 0, 0, 0))
	full, one, report := m.NewAggregator(), m.NewAggregator(), make([]byte, m.ReportBytes())
	if err := errors.Join(full.UnmarshalBinary(data), one.Add(report)); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"add": full.Add(report), "batch": fl.AddBatch(m, full, [][]byte{report}), "merge": full.Merge(one),
	} {
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "reports" {
			t.Errorf("%s: %v, want a ParamError for reports", what, err)
		}
	}
}

// A report is refused, or counted as exactly one: no bytes panic.
func FuzzSuccinctAdd(f *testing.F) {
	m := succinctOpen(f, 5, 1, twoOfFive)
	f.Add(succinctReports(f, m, 1)[0])
	f.Fuzz(func(t *testing.T, report []byte) {
		agg := m.NewAggregator()
		err := agg.Add(report)
		e, none := agg.Estimate()
		if errors.Is(err, fl.ErrBadReport) != errors.Is(none, fl.ErrNoReports) || err == nil && e.Reports != 1 {
			t.Errorf("% x: %v, then %v", report, err, none)
		}
	})
}
