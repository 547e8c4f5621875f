package baseline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

func denseRound(dim int) fl.Round {
	return fl.Round{
		ID: "r", Mechanism: None, Dim: dim, Scale: 1, Epsilon: math.Inf(1), Relation: fl.ReplaceOne, MinReports: 1,
		PublicSeed: [32]byte{1},
	}
}

func denseOpen(t testing.TB, dim int) fl.Mechanism {
	t.Helper()
	m, err := fl.Open(denseRound(dim))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheMeanIsTheMean(t *testing.T) {
	m := denseOpen(t, 3)
	whole, left, right := m.NewAggregator(), m.NewAggregator(), m.NewAggregator()
	for i, g := range [][]float64{{1, -2, 0.5}, {3, 2, 0.5}, {5, 0, 0.5}, {7, 0, 0.5}} {
		report, err := m.Encode(nil, g, nil)
		if err != nil || len(report) != 12 {
			t.Fatalf("%d bytes, %v", len(report), err)
		}
		part := left
		if i > 1 {
			part = right
		}
		for _, agg := range []fl.Aggregator{whole, part} {
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
	}
	stored, err := right.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	restored := m.NewAggregator()
	if err := restored.UnmarshalBinary(stored); err != nil {
		t.Fatal(err)
	}
	if err := left.Merge(restored); err != nil {
		t.Fatal(err)
	}
	for name, agg := range map[string]fl.Aggregator{"whole": whole, "merged": left} {
		e, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		// The population variances are 5, 2 and 0.
		for j, want := range []fl.Series{{Value: []float64{4}, StdErr: []float64{math.Sqrt(5. / 4)}}, {Value: []float64{0}, StdErr: []float64{math.Sqrt(2. / 4)}}, {Value: []float64{0.5}, StdErr: []float64{0}}} {
			if e.Mean().Value[j] != want.Value[0] || math.Abs(e.Mean().StdErr[j]-want.StdErr[0]) > 1e-15 {
				t.Errorf("%s: coordinate %d is %g ± %g, want %g ± %g", name, j, e.Mean().Value[j], e.Mean().StdErr[j], want.Value[0], want.StdErr[0])
			}
		}
		if e.Reports != 4 || e.Guarantee.Trust != fl.NoPrivacy {
			t.Errorf("%s: %d reports under %v", name, e.Reports, e.Guarantee)
		}
	}
}

func TestRefusals(t *testing.T) {
	m := denseOpen(t, 2)
	for name, g := range map[string][]float64{"short": {1}, "NaN": {1, math.NaN()}, "Inf": {math.Inf(-1), 0}} {
		if dst, err := m.Encode([]byte("x"), g, nil); err == nil || string(dst) != "x" {
			t.Errorf("%s: encoded to %q, %v", name, dst, err)
		}
	}
	agg := m.NewAggregator()
	inf := bytes.Repeat([]byte{0, 0, 0x80, 0x7F}, 2)
	for name, report := range map[string][]byte{"empty": nil, "wrong dimension": make([]byte, 12), "Inf": inf, "NaN": append(make([]byte, 6), 0xC0, 0xFF)} {
		if err := agg.Add(report); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: %v, want ErrBadReport", name, err)
		}
		var b *fl.BatchError
		if err := fl.AddBatch(m, agg, [][]byte{make([]byte, 8), report}); !errors.As(err, &b) || b.Index != 1 {
			t.Errorf("%s in a batch: %v, want a BatchError for reports[1]", name, err)
		}
	}
	if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
		t.Errorf("refused reports were counted: %v", err)
	}
	if err := agg.Merge(denseOpen(t, 3).NewAggregator()); err == nil {
		t.Error("merged another dimension")
	}
	other, err := denseOpen(t, 3).NewAggregator().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := agg.UnmarshalBinary(other); err == nil {
		t.Error("restored another round")
	}
	private := denseRound(2)
	private.Epsilon = 1
	var p *fl.ParamError
	if _, err := fl.Open(private); !errors.As(err, &p) || p.Param != "epsilon" {
		t.Errorf("a finite epsilon: %v, want a ParamError for epsilon", err)
	}
}

func TestCoordinatesAreClippedToTheirFormat(t *testing.T) {
	report, err := denseOpen(t, 4).Encode(nil, []float64{1e300, -math.MaxFloat64, math.MaxFloat32 * (1 + 0x1p-30), math.SmallestNonzeroFloat64}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float32{math.MaxFloat32, -math.MaxFloat32, math.MaxFloat32, 0} {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(report[4*j:])); got != want {
			t.Errorf("coordinate %d is %g, want %g", j, got, want)
		}
	}
}

func TestUnknownParametersAreRefused(t *testing.T) {
	r := denseRound(2)
	r.Params = fl.Params{"sparsity": fl.Int(1)}
	var p *fl.ParamError
	if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != "params" {
		t.Errorf("a parameter it does not know: %v, want a ParamError for params", err)
	}
}

// Snapshots with the right digest and checksum: a good one is restored, every
// other one refused without a change.
func TestSnapshotsWithImpossiblePayloadsAreRefused(t *testing.T) {
	m := denseOpen(t, 2)
	payload := func(reports int64, values ...float64) []byte {
		p := binary.LittleEndian.AppendUint64(nil, uint64(reports))
		for _, v := range values {
			p = binary.LittleEndian.AppendUint64(p, math.Float64bits(v))
		}
		return p
	}
	restore := func(agg fl.Aggregator, p []byte) error {
		return agg.UnmarshalBinary(fltest.Snapshot(t, denseRound(2), p))
	}
	agg := m.NewAggregator()
	good := payload(2, 3, -1, 5, 1)
	if err := restore(agg, good); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string][]byte{
		"nothing": {}, "a few bytes": {1, 2, 3}, "one value short": payload(2, 9, 9, 9), "one byte short": good[:len(good)-1],
		"one byte long": append(payload(2, 9, 9, 9, 9), 0), "-1 reports": payload(-1, 9, 9, 9, 9),
		"the least int64": payload(math.MinInt64, 9, 9, 9, 9), "too many reports": payload(fl.MaxReports+1, 9, 9, 9, 9), "a sum of no reports": payload(0, 9, 0, 0, 0),
		"NaN": payload(2, math.NaN(), 9, 9, 9), "Inf": payload(2, 9, 9, 9, math.Inf(1)), "more than float32": payload(2, 9, 9e38, 9, 9),
	} {
		if restore(agg, p) == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	e, err := agg.Estimate()
	if err != nil || e.Reports != 2 || e.Mean().Value[0] != 1.5 || e.Mean().Value[1] != -0.5 {
		t.Errorf("after the refusals: %+v, %v, want 2 reports with the mean 1.5 and -0.5", e, err)
	}
}

func FuzzReportAndSnapshot(f *testing.F) {
	m := denseOpen(f, 2)
	report, err := m.Encode(nil, []float64{1, -2}, nil)
	if err != nil {
		f.Fatal(err)
	}
	snapshot, err := m.NewAggregator().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(report)
	f.Add(snapshot)
	f.Fuzz(func(t *testing.T, data []byte) {
		agg := m.NewAggregator()
		if err := agg.Add(data); err == nil && len(data) != 8 {
			t.Errorf("a report of %d bytes is counted", len(data))
		}
		if err := agg.UnmarshalBinary(data); err != nil {
			return
		}
		if e, err := agg.Estimate(); err == nil && (e.Reports < 1 || len(e.Mean().Value) != 2) {
			t.Errorf("%+v", e)
		}
	})
}
