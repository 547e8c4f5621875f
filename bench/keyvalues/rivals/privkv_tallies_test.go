package rivals_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

func reports(t testing.TB, m fl.KeyValueMechanism, n int) [][]byte {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	out := make([][]byte, n)
	for i := range out {
		var err error
		if out[i], err = m.EncodeKeyValues(nil, holder(rng), rng); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// One aggregator, a batch, and two merged halves in another order have the same
// snapshot, and a restored one the same estimates.
func TestPrivKVSplitAndOrderDoNotMatter(t *testing.T) {
	for _, name := range privKVNames {
		m := open(t, name, 5, 2, nil)
		all := reports(t, m, 300)
		one, batch, left, right := m.NewAggregator(), m.NewAggregator(), m.NewAggregator(), m.NewAggregator()
		for i, r := range all {
			if len(r) != m.(fl.ReportSizer).ReportBytes() {
				t.Fatalf("%s: report of %d bytes", name, len(r))
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
				t.Errorf("%s: another snapshot, %v", name, err)
			}
		}
		back := m.NewAggregator()
		if err := back.UnmarshalBinary(want); err != nil {
			t.Fatal(err)
		}
		a, errA := one.Estimate()
		b, errB := back.Estimate()
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) || len(a.Columns) != 3 || a.Reports != 300 || a.Mechanism != name ||
			a.Guarantee != (fl.Guarantee{Trust: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}) {
			t.Errorf("%s: %+v and %+v, %v, %v", name, a, b, errA, errB)
		}
		if m.NewAggregator().Merge(open(t, name, 6, 2, nil).NewAggregator()) == nil {
			t.Errorf("%s: merging another round: want an error", name)
		}
	}
}

func TestPrivKVBadReportsChangeNothing(t *testing.T) {
	for _, name := range privKVNames {
		m := open(t, name, 5, 2, nil)
		agg := m.NewAggregator()
		limit := byte(5 * 3)
		if name == rivals.KVUE {
			limit = 5 * 8
		}
		for _, bad := range [][]byte{nil, {}, {0, 0}, {limit}, {255}} {
			if err := agg.Add(bad); !errors.Is(err, fl.ErrBadReport) {
				t.Errorf("%s: % x: %v, want ErrBadReport", name, bad, err)
			}
			var batch *fl.BatchError
			if err := fl.AddBatch(m, agg, [][]byte{{limit - 1}, bad}); !errors.As(err, &batch) || batch.Index != 1 || !errors.Is(err, fl.ErrBadReport) {
				t.Errorf("%s: % x in a batch: %v", name, bad, err)
			}
		}
		if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: estimate: %v, want ErrNoReports", name, err)
		}
		if err := agg.Add([]byte{limit - 1}); err != nil {
			t.Errorf("%s: the last report: %v", name, err)
		}
	}
}

func TestBadSnapshotsChangeNothing(t *testing.T) {
	for _, name := range privKVNames {
		r := privKVRound(t, name, 1, 2, nil)
		agg := open(t, name, 1, 2, nil).NewAggregator()
		if err := agg.Add([]byte{1}); err != nil {
			t.Fatal(err)
		}
		before, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		bad := [][]byte{
			nil, {2, 1, 1}, {2, 3, 0, 0}, {2, 1, 1, 0, 0}, {1, 2, 0, 0}, {1, 0, 0, 2}, {1, 0, 2, 0},
			{0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0}, {1, 1, 0, 0x80},
			{0x81, 0x80, 0x80, 0x80, 0x10, 1, 0, 0}, // 2^32 + 1
		}
		if name != rivals.KVUE { // reports have one vote
			bad = append(bad, []byte{2, 0, 1, 0}, []byte{1, 1, 1, 0})
		}
		for _, payload := range bad {
			if agg.UnmarshalBinary(fltest.Snapshot(t, r, payload)) == nil {
				t.Errorf("%s: % x: want an error", name, payload)
			}
		}
		if after, err := agg.Estimate(); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: %+v became %+v, %v", name, before, after, err)
		}
	}
}

// An aggregator that has counted fl.MaxReports takes no more.
func TestPrivKVFullAggregatorsRefuseMore(t *testing.T) {
	m := open(t, rivals.KVUE, 2, 2, nil)
	restore := func(agg fl.Aggregator, reports ...uint64) error {
		var payload []byte
		for _, n := range reports {
			payload = append(binary.AppendUvarint(payload, n), 0, 0, 0)
		}
		return agg.UnmarshalBinary(fltest.Snapshot(t, privKVRound(t, rivals.KVUE, 2, 2, nil), payload))
	}
	full, one := m.NewAggregator(), m.NewAggregator()
	if restore(full, fl.MaxReports, 1) == nil {
		t.Error("a snapshot of more: want an error")
	}
	if err := errors.Join(restore(full, fl.MaxReports-1, 1), one.Add([]byte{0})); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"add": full.Add([]byte{0}), "batch": fl.AddBatch(m, full, [][]byte{{0}}), "merge": full.Merge(one),
	} {
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "reports" {
			t.Errorf("%s: %v, want a ParamError for reports", what, err)
		}
	}
	if e, err := full.Estimate(); err != nil || e.Reports != fl.MaxReports {
		t.Errorf("%+v, %v", e, err)
	}
}

func marshal(t *testing.T, a fl.Aggregator) []byte {
	t.Helper()
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Counts read off the reports give the aggregator that adds the reports themselves. A
// report is key·m + message: m = 3 with the messages none, +, −, and m = 8 for KVUE with
// one bit for each.
func TestPrivKVAddedCountsAreAddedReports(t *testing.T) {
	for _, name := range privKVNames {
		m := open(t, name, 5, 2, nil)
		all := reports(t, m, 300)
		want, got := m.NewAggregator(), m.NewAggregator()
		if err := errors.Join(fl.AddBatch(m, want, all), fl.AddBatch(m, got, all[200:])); err != nil {
			t.Fatal(err)
		}
		counts := make([]rivals.PrivKVCounts, 5)
		for _, r := range all[:200] {
			key, bits := int(r[0])/3, 1<<(r[0]%3)
			if name == rivals.KVUE {
				key, bits = int(r[0])/8, int(r[0])%8
			}
			c := &counts[key]
			c.Reports++
			for bit, count := range []*int32{&c.None, &c.Plus, &c.Minus} {
				*count += int32(bits >> bit & 1)
			}
		}
		if err := rivals.AddPrivKVCounts(got, counts); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(marshal(t, got), marshal(t, want)) {
			t.Errorf("%s: counts and reports give different aggregators", name)
		}
		if e, err := got.Estimate(); err != nil || e.Reports != 300 {
			t.Errorf("%s: %+v, %v, want 300 reports", name, e, err)
		}
	}
}

func TestPrivKVImpossibleCountsAreRefused(t *testing.T) {
	type foreign struct{ fl.Aggregator }
	for _, name := range privKVNames {
		agg := open(t, name, 2, 2, nil).NewAggregator()
		one := rivals.PrivKVCounts{Reports: 2, None: 1, Plus: 1}
		if err := rivals.AddPrivKVCounts(agg, []rivals.PrivKVCounts{one, one}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		before := marshal(t, agg)
		full := rivals.PrivKVCounts{Reports: math.MaxInt32, None: math.MaxInt32}
		for param, err := range map[string]error{
			"agg":       rivals.AddPrivKVCounts(foreign{agg}, []rivals.PrivKVCounts{one, one}),
			"counts":    rivals.AddPrivKVCounts(agg, []rivals.PrivKVCounts{one}),
			"counts[0]": rivals.AddPrivKVCounts(agg, []rivals.PrivKVCounts{{Reports: 1, None: -1, Plus: 2}, one}),
			"counts[1]": rivals.AddPrivKVCounts(agg, []rivals.PrivKVCounts{one, {Reports: 1, Plus: 2}}),
			"reports":   rivals.AddPrivKVCounts(agg, []rivals.PrivKVCounts{one, full}),
		} {
			var p *fl.ParamError
			if !errors.As(err, &p) || p.Param != param {
				t.Errorf("%s: error %v, want one for %s", name, err, param)
			}
		}
		if !bytes.Equal(before, marshal(t, agg)) {
			t.Errorf("%s: refused counts change the aggregator", name)
		}
	}
}
