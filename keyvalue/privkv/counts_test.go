package privkv_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue/privkv"
)

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
func TestAddedCountsAreAddedReports(t *testing.T) {
	for _, name := range names {
		m := open(t, name, 5, 2, nil)
		all := reports(t, m, 300)
		want, got := m.NewAggregator(), m.NewAggregator()
		if err := errors.Join(fl.AddBatch(m, want, all), fl.AddBatch(m, got, all[200:])); err != nil {
			t.Fatal(err)
		}
		counts := make([]privkv.Counts, 5)
		for _, r := range all[:200] {
			key, bits := int(r[0])/3, 1<<(r[0]%3)
			if name == privkv.NameKVUE {
				key, bits = int(r[0])/8, int(r[0])%8
			}
			c := &counts[key]
			c.Reports++
			for bit, count := range []*int32{&c.None, &c.Plus, &c.Minus} {
				*count += int32(bits >> bit & 1)
			}
		}
		if err := privkv.AddCounts(got, counts); err != nil {
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

func TestImpossibleCountsAreRefused(t *testing.T) {
	type foreign struct{ fl.Aggregator }
	for _, name := range names {
		agg := open(t, name, 2, 2, nil).NewAggregator()
		one := privkv.Counts{Reports: 2, None: 1, Plus: 1}
		if err := privkv.AddCounts(agg, []privkv.Counts{one, one}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		before := marshal(t, agg)
		full := privkv.Counts{Reports: math.MaxInt32, None: math.MaxInt32}
		for param, err := range map[string]error{
			"agg":       privkv.AddCounts(foreign{agg}, []privkv.Counts{one, one}),
			"counts":    privkv.AddCounts(agg, []privkv.Counts{one}),
			"counts[0]": privkv.AddCounts(agg, []privkv.Counts{{Reports: 1, None: -1, Plus: 2}, one}),
			"counts[1]": privkv.AddCounts(agg, []privkv.Counts{one, {Reports: 1, Plus: 2}}),
			"reports":   privkv.AddCounts(agg, []privkv.Counts{one, full}),
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
