package pckv

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// Counts taken from reports give the aggregator that adds the reports themselves.
func TestAddedCountsAreAddedReports(t *testing.T) {
	for _, name := range names {
		m := open(t, name, 5, 2, 2)
		all := reports(t, m, 60)
		want, got, part := m.NewAggregator(), m.NewAggregator(), m.NewAggregator()
		if err := errors.Join(fl.AddBatch(m, want, all), fl.AddBatch(m, part, all[:20]), fl.AddBatch(m, got, all[20:])); err != nil {
			t.Fatal(err)
		}
		counted := part.(*aggregator)
		if err := AddCounts(got, Counts{Reports: 20, Plus: counted.plus, Minus: counted.minus}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(snapshotOf(t, got), snapshotOf(t, want)) {
			t.Errorf("%s: counts and reports give different aggregators", name)
		}
	}
}

func TestImpossibleCountsAreRefused(t *testing.T) {
	type foreign struct{ fl.Aggregator }
	for _, name := range names {
		agg := open(t, name, 2, 1, 2).NewAggregator()
		if err := AddCounts(agg, Counts{Reports: 5, Plus: []uint32{1, 2}, Minus: []uint32{1, 1}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		before := snapshotOf(t, agg)
		two := []uint32{1, 0}
		cases := map[string]Counts{
			"reports": {Reports: -1, Plus: two, Minus: two},
			"plus":    {Reports: 5, Plus: two[:1], Minus: two},
			"minus":   {Reports: 5, Plus: two, Minus: []uint32{0, 0, 0}},
			"counts":  {Reports: 1, Plus: two, Minus: two},
		}
		for param, c := range cases {
			refused(t, name, param, AddCounts(agg, c))
		}
		refused(t, name, "reports", AddCounts(agg, Counts{Reports: fl.MaxReports + 1, Plus: two, Minus: two}))
		refused(t, name, "reports", AddCounts(agg, Counts{Reports: fl.MaxReports, Plus: two, Minus: two}))
		refused(t, name, "agg", AddCounts(foreign{agg}, Counts{Reports: 5, Plus: two, Minus: two}))
		// A report of PCKV-UE shows any number of keys, one of PCKV-GRR one at most.
		spread := Counts{Reports: 1, Plus: []uint32{1, 1}, Minus: []uint32{0, 0}}
		if err := AddCounts(open(t, name, 2, 1, 2).NewAggregator(), spread); (err == nil) != (name == UE) {
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
