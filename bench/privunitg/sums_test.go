package privunitg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// whole makes a report of small whole numbers, whose sums do not depend on the order.
func whole(values ...float32) []byte {
	report := []byte(nil)
	for _, v := range values {
		report = binary.LittleEndian.AppendUint32(report, math.Float32bits(v))
	}
	return report
}

func snapshotOf(t testing.TB, a fl.Aggregator) []byte {
	t.Helper()
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSplitsAddUp(t *testing.T) {
	m := open(t, round(2, 1))
	rng := rand.New(rand.NewChaCha8([32]byte{10}))
	one, left, right, restored := m.NewAggregator(), m.NewAggregator(), m.NewAggregator(), m.NewAggregator()
	var all [][]byte
	for i := range 30 {
		all = append(all, whole(float32(rng.IntN(100)), -float32(i)))
		if err := []fl.Aggregator{left, right}[i%2].Add(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := fl.AddBatch(m, one, all); err != nil {
		t.Fatal(err)
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
	if e, err := restored.Estimate(); err != nil || e.Reports != 30 || e.Mean().Value[1] != -14.5 {
		t.Errorf("%+v, %v after the restoration", e, err)
	}
}

func TestWhatIsRefusedIsNotCounted(t *testing.T) {
	m := open(t, round(2, 1))
	agg := m.NewAggregator()
	before := snapshotOf(t, agg)
	good, nan := whole(1, 2), whole(1, float32(math.NaN()))
	var bad *fl.BatchError
	if err := fl.AddBatch(m, agg, [][]byte{good, nan, good}); !errors.As(err, &bad) || bad.Index != 1 || !errors.Is(err, fl.ErrBadReport) {
		t.Errorf("%v, want report 1 refused", err)
	}
	for _, report := range [][]byte{nil, good[:7], append(good[:8:8], 0), nan, whole(float32(math.Inf(-1)), 0)} {
		if err := agg.Add(report); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("% x: %v", report, err)
		}
	}
	other := open(t, round(3, 1)).NewAggregator()
	if err := agg.Merge(other); err == nil {
		t.Error("another round is merged")
	}
	if err := agg.UnmarshalBinary(snapshotOf(t, other)); err == nil {
		t.Error("the snapshot of another round is read")
	}
	if !bytes.Equal(before, snapshotOf(t, agg)) {
		t.Error("what was refused is counted")
	}
	if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
		t.Errorf("%v, want ErrNoReports", err)
	}
}

func TestImpossibleSnapshotsAreRefused(t *testing.T) {
	m := open(t, round(1, 1))
	for _, c := range []struct {
		reports uint64
		sums    []float64
		good    bool
	}{
		{3, []float64{-1.5}, true},
		{3, nil, false},
		{3, []float64{1, 2}, false},
		{3, []float64{3 * math.MaxFloat32}, true},
		{3, []float64{-3.01 * math.MaxFloat32}, false},
		{0, []float64{0.5}, false},
		{3, []float64{math.NaN()}, false},
		{3, []float64{math.Inf(1)}, false},
		{fl.MaxReports + 1, []float64{1}, false},
	} {
		payload := binary.LittleEndian.AppendUint64(nil, c.reports)
		for _, v := range c.sums {
			payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v))
		}
		data := fltest.Snapshot(t, round(1, 1), payload)
		if err := m.NewAggregator().UnmarshalBinary(data); (err == nil) != c.good {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
