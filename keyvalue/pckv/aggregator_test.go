package pckv

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func reports(t *testing.T, m fl.KeyValueMechanism, n int) [][]byte {
	t.Helper()
	rng := rand.New(rand.NewChaCha8([32]byte{13}))
	out := make([][]byte, n)
	for i := range out {
		var err error
		if out[i], err = m.EncodeKeyValues(nil, cohort[i%5], rng); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func snapshotOf(t *testing.T, a fl.Aggregator) []byte {
	t.Helper()
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSnapshotsDoNotDependOnSplitOrOrder(t *testing.T) {
	for _, name := range names {
		m := open(t, name, 5, 2, 2)
		all := reports(t, m, 60)
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
			t.Errorf("%s: the split shows in the snapshot", name)
		}
		if err := restored.UnmarshalBinary(data); err != nil || !bytes.Equal(data, snapshotOf(t, restored)) {
			t.Errorf("%s: the snapshot is not restored: %v", name, err)
		}
		if e, err := restored.Estimate(); err != nil || e.Reports != 60 {
			t.Errorf("%s: %+v, %v after the restoration", name, e, err)
		}
	}
}

func TestARefusedBatchChangesNothing(t *testing.T) {
	for _, name := range names {
		m := open(t, name, 5, 2, 2)
		agg := m.NewAggregator()
		before := snapshotOf(t, agg)
		batch := append(reports(t, m, 3), []byte{0xff, 0xff})
		var bad *fl.BatchError
		if err := fl.AddBatch(m, agg, batch); !errors.As(err, &bad) || bad.Index != 3 || !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: %v", name, err)
		}
		if err := agg.Add([]byte{0, 0xff}); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: %v", name, err)
		}
		other := open(t, name, 5, 1, 2).NewAggregator()
		if err := agg.Merge(other); err == nil {
			t.Errorf("%s: another round is merged", name)
		}
		if err := agg.UnmarshalBinary(snapshotOf(t, other)); err == nil {
			t.Errorf("%s: the snapshot of another round is read", name)
		}
		if !bytes.Equal(before, snapshotOf(t, agg)) {
			t.Errorf("%s: what was refused is counted", name)
		}
		if _, err := agg.(fl.KeyValueAggregator).KeyValues(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Snapshots are refused when a counter, a pair of counters or the length is impossible.
func TestImpossibleSnapshotsAreRefused(t *testing.T) {
	m := open(t, GRR, 2, 1, 2)
	for _, c := range []struct {
		a    aggregator
		good bool
	}{
		{aggregator{reports: 3, plus: []uint32{1, 0}, minus: []uint32{2, 3}}, true},
		{aggregator{reports: 3, plus: []uint32{4, 0}, minus: []uint32{0, 0}}, false},
		{aggregator{reports: 3, plus: []uint32{2, 0}, minus: []uint32{2, 0}}, false},
		{aggregator{reports: 3, plus: []uint32{1}, minus: []uint32{1, 0}}, false},
		{aggregator{reports: 3, plus: []uint32{1, 1}, minus: []uint32{1, 0, 1}}, false},
		{aggregator{reports: fl.MaxReports + 1, plus: []uint32{1, 0}, minus: []uint32{2, 3}}, false},
	} {
		c.a.mechanism = m
		if err := m.NewAggregator().UnmarshalBinary(snapshotOf(t, &c.a)); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.a, err)
		}
	}
	full := &aggregator{mechanism: m, reports: fl.MaxReports, plus: make([]uint32, 2), minus: make([]uint32, 2)}
	one := m.NewAggregator()
	if err := one.Add([]byte{0}); err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{full.Add([]byte{0}), full.AddBatch([][]byte{{0}}), full.Merge(one)} {
		if err == nil || full.reports != fl.MaxReports || full.plus[0] != 0 {
			t.Errorf("way %d: a report above the limit is counted", i)
		}
	}
}

// Algorithm 4 by hand for a = 1/2, b = 1/4, p = 3/4, ℓ = 2, n = 100. Counts 40 and 20:
// n̂1+n̂2 = (60−25)/(1/4) = 140, n̂1−n̂2 = 20/(1/4) = 80; f̂ = 2.8 becomes 1, so both,
// 110 and 30, are at most 50: m̂ = 2(50−30)/100. Counts 10 and 5: f̂ < 0 becomes 1/100,
// n̂1 = (−40+20)/2 and n̂2 become 0. Counts 24 and 11: 40 and 52, f̂ = 0.8, so 46 → 40, −6 → 0.
// Counts 20 and 40 mirror the first.
func TestConditionalMeansAreCorrected(t *testing.T) {
	m := open(t, UE, 4, 2, 1)
	m.randomizer = fixedChannel{m.randomizer}
	agg := &aggregator{mechanism: m, reports: 100, plus: []uint32{40, 10, 24, 20}, minus: []uint32{20, 5, 11, 40}}
	e, err := agg.KeyValues()
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []struct{ frequency, mean, conditional float64 }{{2.8, 1.6, 0.4}, {-0.8, 0.4, 0}, {0.8, 1.04, 1}, {2.8, -1.6, -0.4}} {
		off := math.Abs(e.Frequency.Value[j]-want.frequency) + math.Abs(e.Mean.Value[j]-want.mean) + math.Abs(e.Conditional[j]-want.conditional)
		if !(off < 1e-12) { // also when NaN
			t.Errorf("key %d: %g, %g, %g, want %+v", j, e.Frequency.Value[j], e.Mean.Value[j], e.Conditional[j], want)
		}
	}
}

type fixedChannel struct{ randomizer }

func (fixedChannel) channel() Channel { return Channel{Background: 0.25, Hold: 0.25, Sign: 0.25} }

func FuzzSnapshot(f *testing.F) {
	m := open(f, UE, 5, 2, 2)
	data, err := m.NewAggregator().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		agg := m.NewAggregator().(*aggregator)
		if err := agg.UnmarshalBinary(data); err == nil && (agg.reports < 0 || len(agg.plus) != 5 || len(agg.minus) != 5) {
			t.Errorf("%+v", agg)
		}
	})
}
