package dense

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func open(t testing.TB, dim int) fl.Mechanism {
	t.Helper()
	m, err := fl.Open(fl.Round{
		ID: "r", Mechanism: Name, Dim: dim, Scale: 1, Epsilon: math.Inf(1), Relation: fl.ReplaceOne, MinReports: 1,
		PublicSeed: [32]byte{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheMeanIsTheMean(t *testing.T) {
	m := open(t, 3)
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
			if e.Value[j] != want.Value[0] || math.Abs(e.StdErr[j]-want.StdErr[0]) > 1e-15 {
				t.Errorf("%s: coordinate %d is %g ± %g, want %g ± %g", name, j, e.Value[j], e.StdErr[j], want.Value[0], want.StdErr[0])
			}
		}
		if e.Reports != 4 || e.Guarantee.Model != fl.NoPrivacy {
			t.Errorf("%s: %d reports under %v", name, e.Reports, e.Guarantee)
		}
	}
}

func TestRefusals(t *testing.T) {
	m := open(t, 2)
	for name, g := range map[string][]float64{"short": {1}, "NaN": {1, math.NaN()}, "beyond float32": {1e300, 0}} {
		if dst, err := m.Encode([]byte("x"), g, nil); err == nil || string(dst) != "x" {
			t.Errorf("%s: encoded to %q, %v", name, dst, err)
		}
	}
	agg := m.NewAggregator()
	inf := bytes.Repeat([]byte{0, 0, 0x80, 0x7F}, 2)
	for name, report := range map[string][]byte{"empty": nil, "wrong dimension": make([]byte, 12), "Inf": inf} {
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
	if err := agg.Merge(open(t, 3).NewAggregator()); err == nil {
		t.Error("merged another dimension")
	}
	other, err := open(t, 3).NewAggregator().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := agg.UnmarshalBinary(other); err == nil {
		t.Error("restored another round")
	}
	private := fl.Round{ID: "r", Mechanism: Name, Dim: 2, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1}}
	var p *fl.ParamError
	if _, err := fl.Open(private); !errors.As(err, &p) || p.Param != "epsilon" {
		t.Errorf("a finite epsilon: %v, want a ParamError for epsilon", err)
	}
}
