package keyvalue

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

func pckvReports(t *testing.T, m fl.KeyValueMechanism, n int) [][]byte {
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
		m := pckvOpen(t, name, 5, 2, 2)
		all := pckvReports(t, m, 60)
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
		if e, err := restored.Estimate(); err != nil || e.Reports != 60 || e.Mechanism != name || e.Guarantee != m.Guarantee() {
			t.Errorf("%s: %+v, %v after the restoration", name, e, err)
		}
	}
}

func TestARefusedBatchChangesNothing(t *testing.T) {
	for _, name := range names {
		m := pckvOpen(t, name, 5, 2, 2)
		agg := m.NewAggregator()
		before := snapshotOf(t, agg)
		batch := append(pckvReports(t, m, 3), []byte{0xff, 0xff})
		var bad *fl.BatchError
		if err := fl.AddBatch(m, agg, batch); !errors.As(err, &bad) || bad.Index != 3 || !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: %v", name, err)
		}
		if err := agg.Add([]byte{0, 0xff}); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: %v", name, err)
		}
		other := pckvOpen(t, name, 5, 1, 2).NewAggregator()
		if err := agg.Merge(other); err == nil {
			t.Errorf("%s: another round is merged", name)
		}
		if err := agg.UnmarshalBinary(snapshotOf(t, other)); err == nil {
			t.Errorf("%s: the snapshot of another round is read", name)
		}
		if !bytes.Equal(before, snapshotOf(t, agg)) {
			t.Errorf("%s: what was refused is counted", name)
		}
		if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Snapshots are refused when a counter, a pair of counters or the length is impossible.
func TestImpossibleSnapshotsAreRefused(t *testing.T) {
	m := pckvOpen(t, PCKVGRR, 2, 1, 2)
	for _, c := range []struct {
		reports     int64
		plus, minus []uint32
		good        bool
	}{
		{3, []uint32{1, 0}, []uint32{2, 3}, true},
		{3, []uint32{4, 0}, []uint32{0, 0}, false},
		{3, []uint32{2, 0}, []uint32{2, 0}, false},
		{3, []uint32{1}, []uint32{1, 0}, false},
		{3, []uint32{1, 1}, []uint32{1, 0, 1}, false},
		{fl.MaxReports + 1, []uint32{1, 0}, []uint32{2, 3}, false},
	} {
		k := &counts{plus: c.plus, minus: c.minus}
		if err := m.NewAggregator().UnmarshalBinary(fltest.Snapshot(t, m.round.Round, k.Append(nil, c.reports))); (err == nil) != c.good {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestAFullAggregatorTakesNoMore(t *testing.T) {
	m := pckvOpen(t, PCKVGRR, 2, 1, 2)
	full, one := m.NewAggregator(), m.NewAggregator()
	if err := errors.Join(AddPCKVCounts(full, PCKVCounts{Reports: fl.MaxReports, Plus: make([]uint32, 2), Minus: make([]uint32, 2)}), one.Add([]byte{0})); err != nil {
		t.Fatal(err)
	}
	before := snapshotOf(t, full)
	for i, err := range []error{full.Add([]byte{0}), fl.AddBatch(m, full, [][]byte{{0}}), full.Merge(one)} {
		refused(t, fmt.Sprint("way ", i), "reports", err)
		if !bytes.Equal(before, snapshotOf(t, full)) {
			t.Errorf("way %d: a report above the limit is counted", i)
		}
	}
}

// Algorithm 4 by hand for a = 1/2, b = 1/4, p = 3/4, ℓ = 2, n = 100. Counts 40 and 20:
// n̂1+n̂2 = (60−25)/(1/4) = 140, n̂1−n̂2 = 20/(1/4) = 80; f̂ = 2.8 becomes 1, so both,
// 110 and 30, are at most 50: m̂ = 2(50−30)/100. Counts 10 and 5: f̂ < 0 becomes 1/100,
// n̂1 = (−40+20)/2 and n̂2 become 0. Counts 24 and 11: 40 and 52, f̂ = 0.8, so 46 → 40, −6 → 0.
// PCKVCounts 20 and 40 mirror the first.
func TestConditionalMeansAreCorrected(t *testing.T) {
	m := pckvOpen(t, PCKVUE, 4, 2, 1)
	m.pckvRandomizer = fixedChannel{m.pckvRandomizer}
	agg := m.NewAggregator()
	if err := AddPCKVCounts(agg, PCKVCounts{Reports: 100, Plus: []uint32{40, 10, 24, 20}, Minus: []uint32{20, 5, 11, 40}}); err != nil {
		t.Fatal(err)
	}
	mean, frequency, conditional := decode(t, agg)
	for j, want := range []struct{ frequency, mean, conditional float64 }{{2.8, 1.6, 0.4}, {-0.8, 0.4, 0}, {0.8, 1.04, 1}, {2.8, -1.6, -0.4}} {
		off := math.Abs(frequency.Value[j]-want.frequency) + math.Abs(mean.Value[j]-want.mean) + math.Abs(conditional.Value[j]-want.conditional)
		if !(off < 1e-12) { // also when NaN
			t.Errorf("key %d: %g, %g, %g, want %+v", j, frequency.Value[j], mean.Value[j], conditional.Value[j], want)
		}
	}
}

type fixedChannel struct{ pckvRandomizer }

func (fixedChannel) channel() Channel { return Channel{Background: 0.25, Hold: 0.25, Sign: 0.25} }

// PCKVCounts taken from reports give the aggregator that adds the reports themselves.
func TestPCKVAddedCountsAreAddedReports(t *testing.T) {
	for _, name := range names {
		m := pckvOpen(t, name, 5, 2, 2)
		all := pckvReports(t, m, 60)
		want, got, part := m.NewAggregator(), m.NewAggregator(), m.NewAggregator()
		if err := errors.Join(fl.AddBatch(m, want, all), fl.AddBatch(m, part, all[:20]), fl.AddBatch(m, got, all[20:])); err != nil {
			t.Fatal(err)
		}
		counted := part.(*pckvAggregator).State()
		if err := AddPCKVCounts(got, PCKVCounts{Reports: 20, Plus: counted.plus, Minus: counted.minus}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(snapshotOf(t, got), snapshotOf(t, want)) {
			t.Errorf("%s: counts and reports give different aggregators", name)
		}
	}
}

func TestPCKVImpossibleCountsAreRefused(t *testing.T) {
	type foreign struct{ fl.Aggregator }
	for _, name := range names {
		agg := pckvOpen(t, name, 2, 1, 2).NewAggregator()
		if err := AddPCKVCounts(agg, PCKVCounts{Reports: 5, Plus: []uint32{1, 2}, Minus: []uint32{1, 1}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		before := snapshotOf(t, agg)
		two := []uint32{1, 0}
		cases := map[string]PCKVCounts{
			"reports": {Reports: -1, Plus: two, Minus: two},
			"plus":    {Reports: 5, Plus: two[:1], Minus: two},
			"minus":   {Reports: 5, Plus: two, Minus: []uint32{0, 0, 0}},
			"counts":  {Reports: 1, Plus: two, Minus: two},
		}
		for param, c := range cases {
			refused(t, name, param, AddPCKVCounts(agg, c))
		}
		refused(t, name, "reports", AddPCKVCounts(agg, PCKVCounts{Reports: fl.MaxReports + 1, Plus: two, Minus: two}))
		refused(t, name, "reports", AddPCKVCounts(agg, PCKVCounts{Reports: fl.MaxReports, Plus: two, Minus: two}))
		refused(t, name, "agg", AddPCKVCounts(foreign{agg}, PCKVCounts{Reports: 5, Plus: two, Minus: two}))
		// A report of PCKV-UE shows any number of keys, one of PCKV-GRR one at most.
		spread := PCKVCounts{Reports: 1, Plus: []uint32{1, 1}, Minus: []uint32{0, 0}}
		if err := AddPCKVCounts(pckvOpen(t, name, 2, 1, 2).NewAggregator(), spread); (err == nil) != (name == PCKVUE) {
			t.Errorf("%s: one report that shows two keys: %v", name, err)
		}
		if !bytes.Equal(before, snapshotOf(t, agg)) {
			t.Errorf("%s: refused counts change the aggregator", name)
		}
	}
}

func refused(t *testing.T, name, param string, err error) {
	t.Helper()
	var p *fl.ParamError
	if !errors.As(err, &p) || p.Param != param {
		t.Errorf("%s: error %v, want one for %s", name, err, param)
	}
}

func FuzzSnapshot(f *testing.F) {
	m := pckvOpen(f, PCKVUE, 5, 2, 2)
	data, err := m.NewAggregator().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		agg := m.NewAggregator().(*pckvAggregator)
		if err := agg.UnmarshalBinary(data); err != nil {
			return
		}
		if again := m.NewAggregator(); again.UnmarshalBinary(snapshotOf(t, agg)) != nil || len(agg.State().plus) != 5 || len(agg.State().minus) != 5 {
			t.Errorf("%+v", agg.State())
		}
	})
}
