package integers_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

func snapshotOf(t testing.TB, a fl.Aggregator) []byte {
	t.Helper()
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSnapshotsDoNotDependOnSplitOrOrder(t *testing.T) {
	m := open(t, 3, 2)
	var all [][]byte
	for i := range 40 {
		all = append(all, encode(t, m, float64(i), -2*float64(i), 50))
	}
	one, left, right, restored := m.NewAggregator(), m.NewAggregator(), m.NewAggregator(), m.NewAggregator()
	if err := fl.AddBatch(m, one, all); err != nil {
		t.Fatal(err)
	}
	for i := len(all) - 1; i >= 0; i-- {
		if err := []fl.Aggregator{left, right}[i%2].Add(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := left.Merge(right); err != nil {
		t.Fatal(err)
	}
	data := snapshotOf(t, one)
	if !bytes.Equal(data, snapshotOf(t, left)) {
		t.Error("the split shows in the snapshot")
	}
	if err := restored.UnmarshalBinary(data); err != nil || !bytes.Equal(data, snapshotOf(t, restored)) {
		t.Errorf("the snapshot is not restored: %v", err)
	}
	if e, err := restored.Estimate(); err != nil || e.Reports != 40 || e.Mean().Value[2] != 25.25 {
		t.Errorf("%+v, %v after the restoration", e, err)
	}
}

func TestWhatIsRefusedIsNotCounted(t *testing.T) {
	m := open(t, 3, 2)
	agg := m.NewAggregator()
	before := snapshotOf(t, agg)
	good := encode(t, m, 1, 2, 3)
	var bad *fl.BatchError
	if err := fl.AddBatch(m, agg, [][]byte{good, good[:5], good}); !errors.As(err, &bad) || bad.Index != 1 || !errors.Is(err, fl.ErrBadReport) {
		t.Errorf("%v, want report 1 refused", err)
	}
	for _, report := range [][]byte{nil, good[:5], append(good[:6:6], 0)} {
		if err := agg.Add(report); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%d bytes: %v", len(report), err)
		}
	}
	other := open(t, 4, 2).NewAggregator()
	if err := agg.Merge(other); err == nil {
		t.Error("another round is merged")
	}
	if err := agg.UnmarshalBinary(snapshotOf(t, other)); err == nil {
		t.Error("the snapshot of another round is read")
	}
	if !bytes.Equal(before, snapshotOf(t, agg)) {
		t.Error("what was refused is counted")
	}
}

// payload makes a snapshot by hand.
func payload(t testing.TB, reports uint64, sums ...int64) []byte {
	t.Helper()
	b := binary.AppendUvarint(nil, reports)
	for _, v := range sums {
		b = binary.AppendVarint(b, v)
	}
	return fltest.Snapshot(t, round(2), b)
}

func TestImpossibleSnapshotsAreRefused(t *testing.T) {
	m := open(t, 2, 2)
	for _, c := range []struct {
		reports uint64
		sums    []int64
		good    bool
	}{
		{2, []int64{2 * math.MaxInt16, 2 * math.MinInt16}, true},
		{2, []int64{2*math.MaxInt16 + 1, 0}, false},
		{2, []int64{0, 2*math.MinInt16 - 1}, false},
		{2, []int64{0}, false},
		{2, []int64{0, 0, 0}, false},
		{fl.MaxReports + 1, []int64{0, 0}, false},
		{math.MaxUint64, []int64{0, 0}, false},
	} {
		if err := m.NewAggregator().UnmarshalBinary(payload(t, c.reports, c.sums...)); (err == nil) != c.good {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestAFullAggregatorTakesNoMore(t *testing.T) {
	m := open(t, 2, 2)
	full, one := m.NewAggregator(), m.NewAggregator()
	if err := full.UnmarshalBinary(payload(t, fl.MaxReports, 5, 6)); err != nil {
		t.Fatal(err)
	}
	before, report := snapshotOf(t, full), encode(t, m, 1, 2)
	if err := one.Add(report); err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{full.Add(report), fl.AddBatch(m, full, [][]byte{report}), full.Merge(one)} {
		if err == nil || !bytes.Equal(before, snapshotOf(t, full)) {
			t.Errorf("way %d: a report above the limit is counted", i)
		}
	}
}

func FuzzReportAndSnapshot(f *testing.F) {
	m := open(f, 2, 2)
	f.Add(payload(f, 2, 1, 2))
	f.Add(encode(f, m, 1, 2))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		agg := m.NewAggregator()
		if err := agg.Add(data); (err == nil) != (len(data) == 4) {
			t.Errorf("a report of %d bytes: %v", len(data), err)
		}
		if err := agg.UnmarshalBinary(data); err == nil {
			if again := m.NewAggregator(); again.UnmarshalBinary(snapshotOf(t, agg)) != nil {
				t.Error("a snapshot that was read is not written so that it can be read")
			}
		}
	})
}
