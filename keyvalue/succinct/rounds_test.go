package succinct

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
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

var twoOfFive = fl.Params{ParamSparsity: fl.Int(2), ParamBuckets: fl.Int(2)}

func reports(t testing.TB, m *mechanism, n int) [][]byte {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	out := make([][]byte, n)
	for i := range out {
		var err error
		if out[i], err = m.EncodeKeyValues(nil, []fl.KeyValue{{Key: 0, Value: 0.5}, {Key: 4, Value: -1}}, rng); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// One aggregator, a batch, and two merged halves in another order have the same
// snapshot, and a restored one the same estimates.
func TestSplitAndOrderDoNotMatter(t *testing.T) {
	m := open(t, 5, 1, twoOfFive)
	all := reports(t, m, 200)
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
	if errA != nil || errB != nil || !reflect.DeepEqual(a, b) || a.Reports != 200 || a.Mechanism != Name ||
		a.Guarantee != (fl.Guarantee{Model: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne}) {
		t.Errorf("%+v and %+v, %v, %v", a, b, errA, errB)
	}
	if m.NewAggregator().Merge(open(t, 6, 1, twoOfFive).NewAggregator()) == nil {
		t.Error("merging another round: want an error")
	}
}

func TestScaleMultipliesTheMean(t *testing.T) {
	r := sparsetest.RoundWith(t, Name, 5, 1, twoOfFive)
	r.Scale = 4
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	agg := m.NewAggregator().(fl.KeyValueAggregator)
	if err := fl.AddBatch(m, agg, reports(t, m.(*mechanism), 20)); err != nil {
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

// Every integer of the range survives, those beyond it become its ends, and the one
// code that no client sends is refused.
func TestCodec(t *testing.T) {
	for bytes := 1; bytes <= 4; bytes++ {
		c := codec{bytes: bytes}
		end := int64(1)<<(8*bytes-1) - 1
		for _, x := range []int64{0, 1, -1, 100, -100, end, -end, end + 1, -end - 1, math.MaxInt64, math.MinInt64} {
			seed, got, err := c.parse(c.append(nil, 0xfedcba98, x))
			if want := min(max(x, -end), end); err != nil || seed != 0xfedcba98 || got != want {
				t.Errorf("%d bytes: %d became %d with seed %x, %v", bytes, x, got, seed, err)
			}
		}
		bad := make([]byte, 4+bytes)
		bad[3+bytes] = 0x80
		if _, _, err := c.parse(bad); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%d bytes: the least integer: %v, want ErrBadReport", bytes, err)
		}
	}
}

func TestBadReportsChangeNothing(t *testing.T) {
	m := open(t, 5, 1, twoOfFive)
	agg, good := m.NewAggregator(), reports(t, m, 1)[0]
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
	if _, err := agg.(fl.KeyValueAggregator).KeyValues(); !errors.Is(err, fl.ErrNoReports) {
		t.Errorf("key values: %v, want ErrNoReports", err)
	}
}

// One report of the limit ±127 has the square 16129, 0x81 0x7e as an uvarint; −127 is
// 0xfd 0x01 as a varint.
func TestSnapshots(t *testing.T) {
	m := open(t, 1, 20, fl.Params{ParamSparsity: fl.Int(1)})
	if m.codec.bytes != 1 {
		t.Fatalf("%d bytes, want 1", m.codec.bytes)
	}
	agg := m.NewAggregator().(*aggregator)
	restore := func(payload ...byte) error {
		data, err := snapshot.Encode(m.digest, payload)
		if err != nil {
			t.Fatal(err)
		}
		return agg.UnmarshalBinary(data)
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
	if agg.reports != 1 || agg.squares.lo != 16129 || agg.sums[0] != -127 {
		t.Errorf("after the refusals: %+v", agg)
	}
	// 10^9 reports of the largest square do not fit 64 bits.
	big := uint128{lo: 1 << 63}
	if sum := big.plus(big).plus(uint128{hi: 1, lo: 5}); sum != (uint128{hi: 2, lo: 5}) || sum.float() != 0x1p65+5 {
		t.Errorf("2^63 + 2^63 + 2^64 + 5 = %+v", sum)
	}
}

// An aggregator that has counted fl.MaxReports takes no more.
func TestFullAggregatorsRefuseMore(t *testing.T) {
	m := open(t, 1, 20, fl.Params{ParamSparsity: fl.Int(1)})
	data, err := snapshot.Encode(m.digest, append(binary.AppendUvarint(nil, fl.MaxReports), 0, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
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

func TestBadRoundsAreRefused(t *testing.T) {
	for param, change := range map[string]func(r *fl.Round){
		"epsilon":     func(r *fl.Round) { r.Epsilon = math.Inf(1) },
		"delta":       func(r *fl.Round) { r.Delta = 0.1 },
		"relation":    func(r *fl.Round) { r.Relation = fl.ZeroOut },
		"params":      func(r *fl.Round) { r.Params = r.Params.With("slots", fl.Int(1)) },
		ParamSparsity: func(r *fl.Round) { r.Params = r.Params.With(ParamSparsity, fl.Int(6)) },
		ParamBuckets:  func(r *fl.Round) { r.Params = r.Params.With(ParamBuckets, fl.Int(0)) },
		ParamBeta:     func(r *fl.Round) { r.Params = r.Params.With(ParamBeta, fl.Real(1)) },
	} {
		r := sparsetest.RoundWith(t, Name, 5, 1, twoOfFive)
		change(&r)
		var p *fl.ParamError
		if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v, want a ParamError for %s", err, param)
		}
	}
	m := open(t, 5, 1, twoOfFive)
	for _, pairs := range [][]fl.KeyValue{{{Key: 5}}, {{Key: 1}, {Key: 1}}, {{Key: 1, Value: math.NaN()}}} {
		var p *fl.ParamError
		out, err := m.EncodeKeyValues([]byte("x"), pairs, nil)
		if !errors.As(err, &p) || p.Param != "pairs" || string(out) != "x" {
			t.Errorf("%v: %q, %v", pairs, out, err)
		}
	}
	if out, err := m.Encode([]byte("x"), []float64{1, 2, 3, 4, math.NaN()}, nil); err == nil || string(out) != "x" {
		t.Errorf("a gradient with NaN: %q, %v", out, err)
	}
}

// The larger of the two numbers of reports decides the clip.
func TestClipCountsTheReportsOfTheRound(t *testing.T) {
	r := sparsetest.RoundWith(t, Name, 1000, 1, fl.Params{ParamSparsity: fl.Int(500)})
	for _, c := range []struct{ least, target, reports int }{{100, 0, 100}, {100, 1_000_000, 1_000_000}} {
		r.MinReports, r.TargetReports = c.least, c.target
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := Clip(500, 1, c.reports, 0.1); err != nil || m.(*mechanism).clip != int64(want) {
			t.Errorf("%+v: clip %d, want %d, %v", c, m.(*mechanism).clip, want, err)
		}
	}
}

// A report is refused, or counted as exactly one: no bytes panic.
func FuzzAdd(f *testing.F) {
	m := open(f, 5, 1, twoOfFive)
	f.Add(reports(f, m, 1)[0])
	f.Fuzz(func(t *testing.T, report []byte) {
		agg := m.NewAggregator()
		err := agg.Add(report)
		e, none := agg.Estimate()
		if errors.Is(err, fl.ErrBadReport) != errors.Is(none, fl.ErrNoReports) || err == nil && e.Reports != 1 {
			t.Errorf("% x: %v, then %v", report, err, none)
		}
	})
}
