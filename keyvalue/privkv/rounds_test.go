package privkv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
	"github.com/hushgrad/hushgrad/keyvalue/privkv"
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

func reports(t testing.TB, m fl.KeyValueMechanism, n int) [][]byte {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	out := make([][]byte, n)
	for i := range out {
		var err error
		if out[i], err = m.EncodeKeyValues(nil, client(rng), rng); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// One aggregator, a batch, and two merged halves in another order have the same
// snapshot, and a restored one the same estimates.
func TestSplitAndOrderDoNotMatter(t *testing.T) {
	for _, name := range names {
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
		a, errA := one.(fl.KeyValueAggregator).KeyValues()
		b, errB := back.(fl.KeyValueAggregator).KeyValues()
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) || a.Reports != 300 || a.Mechanism != name {
			t.Errorf("%s: %+v and %+v, %v, %v", name, a, b, errA, errB)
		}
		e, err := back.Estimate()
		if err != nil || !reflect.DeepEqual(e.Value, a.Mean.Value) || e.Guarantee != (fl.Guarantee{Model: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}) {
			t.Errorf("%s: %+v, %v: not the mean with scale 1", name, e, err)
		}
		if m.NewAggregator().Merge(open(t, name, 6, 2, nil).NewAggregator()) == nil {
			t.Errorf("%s: merging another round: want an error", name)
		}
	}
}

func TestScaleMultipliesTheMean(t *testing.T) {
	r := sparsetest.RoundWith(t, privkv.NameKVUE, 5, 2, nil)
	r.Scale = 4
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	agg := m.NewAggregator().(fl.KeyValueAggregator)
	if err := fl.AddBatch(m, agg, reports(t, m.(fl.KeyValueMechanism), 50)); err != nil {
		t.Fatal(err)
	}
	k, errK := agg.KeyValues()
	e, errE := agg.Estimate()
	if errK != nil || errE != nil {
		t.Fatal(errK, errE)
	}
	for j := range e.Value {
		if e.Value[j] != 4*k.Mean.Value[j] || e.StdErr[j] != 4*k.Mean.StdErr[j] {
			t.Errorf("coordinate %d: %g ± %g, want 4 times %g ± %g", j, e.Value[j], e.StdErr[j], k.Mean.Value[j], k.Mean.StdErr[j])
		}
	}
}

func TestBadReportsChangeNothing(t *testing.T) {
	for _, name := range names {
		m := open(t, name, 5, 2, nil)
		agg := m.NewAggregator()
		limit := byte(5 * 3)
		if name == privkv.NameKVUE {
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
		if _, err := agg.(fl.KeyValueAggregator).KeyValues(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: key values: %v, want ErrNoReports", name, err)
		}
		if err := agg.Add([]byte{limit - 1}); err != nil {
			t.Errorf("%s: the last report: %v", name, err)
		}
	}
}

func TestBadSnapshotsChangeNothing(t *testing.T) {
	for _, name := range names {
		r := sparsetest.RoundWith(t, name, 1, 2, nil)
		digest, err := r.Digest()
		if err != nil {
			t.Fatal(err)
		}
		agg := open(t, name, 1, 2, nil).NewAggregator().(fl.KeyValueAggregator)
		if err := agg.Add([]byte{1}); err != nil {
			t.Fatal(err)
		}
		before, err := agg.KeyValues()
		if err != nil {
			t.Fatal(err)
		}
		bad := [][]byte{
			nil, {2, 1, 1}, {2, 3, 0, 0}, {2, 1, 1, 0, 0}, {1, 2, 0, 0}, {1, 0, 0, 2}, {1, 0, 2, 0},
			{0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0}, {1, 1, 0, 0x80},
			{0x81, 0x80, 0x80, 0x80, 0x10, 1, 0, 0}, // 2^32 + 1
		}
		if name != privkv.NameKVUE { // reports have one vote
			bad = append(bad, []byte{2, 0, 1, 0}, []byte{1, 1, 1, 0})
		}
		for _, payload := range bad {
			data, err := snapshot.Encode(digest, payload)
			if err != nil {
				t.Fatal(err)
			}
			if agg.UnmarshalBinary(data) == nil {
				t.Errorf("%s: % x: want an error", name, payload)
			}
		}
		if after, err := agg.KeyValues(); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: %+v became %+v, %v", name, before, after, err)
		}
	}
}

// An aggregator that has counted fl.MaxReports takes no more.
func TestFullAggregatorsRefuseMore(t *testing.T) {
	r := sparsetest.RoundWith(t, privkv.NameKVUE, 2, 2, nil)
	m := open(t, privkv.NameKVUE, 2, 2, nil)
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	restore := func(agg fl.Aggregator, reports ...uint64) error {
		var payload []byte
		for _, n := range reports {
			payload = append(binary.AppendUvarint(payload, n), 0, 0, 0)
		}
		data, err := snapshot.Encode(digest, payload)
		if err != nil {
			t.Fatal(err)
		}
		return agg.UnmarshalBinary(data)
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

func TestBadRoundsAreRefused(t *testing.T) {
	for _, name := range names {
		for param, change := range map[string]func(r *fl.Round){
			"epsilon":  func(r *fl.Round) { r.Epsilon = math.Inf(1) },
			"delta":    func(r *fl.Round) { r.Delta = 0.1 },
			"relation": func(r *fl.Round) { r.Relation = fl.ZeroOut },
			"params":   func(r *fl.Round) { r.Params = r.Params.With("sparsity", fl.Int(1)) },
			"rounds":   func(r *fl.Round) { r.Params = fl.Params{"rounds": fl.Int(0), "virtual": fl.Int(1)} },
			"virtual":  func(r *fl.Round) { r.Params = fl.Params{"rounds": fl.Int(1), "virtual": fl.Int(1001)} },
		} {
			r := sparsetest.RoundWith(t, name, 5, 2, nil)
			change(&r)
			if name != privkv.NamePrivKVM && (param == "rounds" || param == "virtual") {
				param = "params"
			}
			var p *fl.ParamError
			if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
				t.Errorf("%s: %v, want a ParamError for %s", name, err, param)
			}
		}
		r := sparsetest.RoundWith(t, name, 5, 2, nil)
		r.Epsilon = 1e-300
		if _, err := fl.Open(r); err == nil {
			t.Errorf("%s: a budget of 1e-300: want an error", name)
		}
		m := open(t, name, 5, 2, nil)
		for _, pairs := range [][]fl.KeyValue{{{Key: 5}}, {{Key: 1}, {Key: 1}}, {{Key: 2}, {Key: 1}}, {{Key: 1, Value: 1.5}}, {{Key: 1, Value: math.NaN()}}} {
			var p *fl.ParamError
			out, err := m.EncodeKeyValues([]byte("x"), pairs, nil)
			if !errors.As(err, &p) || p.Param != "pairs" || string(out) != "x" {
				t.Errorf("%s: %v: %q, %v", name, pairs, out, err)
			}
		}
		if out, err := m.Encode([]byte("x"), []float64{1, 2, 3, 4, math.NaN()}, nil); err == nil || string(out) != "x" {
			t.Errorf("%s: a gradient with NaN: %q, %v", name, out, err)
		}
	}
}

func TestUnusedBudgetIsCommented(t *testing.T) {
	for rounds, want := range map[int]int{1: 0, 3: 1} {
		m := open(t, privkv.NamePrivKVM, 5, 2, fl.Params{"rounds": fl.Int(rounds)})
		if advice := m.(fl.Adviser).Advice(); len(advice) != want {
			t.Errorf("%d rounds: %q", rounds, advice)
		}
	}
}

// A report is refused, or counted as exactly one: no bytes panic.
func FuzzAdd(f *testing.F) {
	f.Add(uint16(5), []byte{3})
	f.Add(uint16(300), []byte{0xff, 0x03})
	f.Fuzz(func(t *testing.T, dim uint16, report []byte) {
		for _, name := range names {
			agg := open(t, name, 1+int(dim), 1, nil).NewAggregator()
			err := agg.Add(report)
			e, none := agg.Estimate()
			if errors.Is(err, fl.ErrBadReport) != errors.Is(none, fl.ErrNoReports) || err == nil && e.Reports != 1 {
				t.Errorf("%s: % x: %v, then %v", name, report, err, none)
			}
		}
	})
}
