package rivals_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/keyvalue"
)

func ternaryRound(dim, sparsity int, epsilon float64) fl.Round {
	return fl.Round{
		ID: "test", Mechanism: rivals.PCKVTernary, Dim: dim, Scale: 2, Epsilon: epsilon,
		Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{rivals.ParamSparsity: fl.Int(sparsity)},
	}
}

func ternaryOpen(t testing.TB, r fl.Round) fl.Mechanism {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func collect(t *testing.T, m fl.Mechanism, n int, grad []float64, rng *rand.Rand) fl.Aggregator {
	t.Helper()
	agg := m.NewAggregator()
	var report []byte
	for range n {
		var err error
		if report, err = m.Encode(report[:0], grad, rng); err != nil {
			t.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	return agg
}

// 20 coordinates of all sizes: with Σ|g|/τ = 5 ≤ s nothing but what is above τ is clipped, with
// s = 2 everything is halved and more. 60 means within 5.8 standard errors, 4e-7.
func TestTernaryEstimateIsTheClippedMean(t *testing.T) {
	grad := make([]float64, 20)
	for j := range grad {
		grad[j] = float64(j%5-2) * 0.4
	}
	grad[19] = 9
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, c := range []struct {
		sparsity int
		epsilon  float64
	}{{6, 4}, {2, 4}, {20, 8}} {
		m := ternaryOpen(t, ternaryRound(len(grad), c.sparsity, c.epsilon))
		total := 0.
		for _, g := range grad {
			total += math.Abs(min(g, 2)) / 2
		}
		shrink := min(1, float64(c.sparsity)/total)
		e, err := collect(t, m, 30_000, grad, rng).Estimate()
		if err != nil {
			t.Fatal(err)
		}
		for j, g := range grad {
			if z := (e.Mean().Value[j] - min(g, 2)*shrink) / e.Mean().StdErr[j]; !(math.Abs(z) < 5.8) {
				t.Errorf("%+v: coordinate %d: %g ± %g, want %g", c, j, e.Mean().Value[j], e.Mean().StdErr[j], min(g, 2)*shrink)
			}
		}
		if e.Mechanism != rivals.PCKVTernary || e.Reports != 30_000 || e.Guarantee != m.Guarantee() {
			t.Errorf("%d reports of %s under %v", e.Reports, e.Mechanism, e.Guarantee)
		}
	}
}

// "pckv-grr" itself on a gradient with no more non-zeros than the padding: unbiased for the
// coordinates clipped to Scale. With more it is too small by padding/non-zeros. 12 means
// within 5.5 standard errors, 5e-7.
func TestPCKVNeedsPaddingForAllNonZeros(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	grad := []float64{1, -2, 0, 9, 0.5, 0}
	for _, padding := range []int{4, 2} {
		r := ternaryRound(len(grad), 1, 5)
		r.Mechanism, r.Params = keyvalue.PCKVGRR, fl.Params{keyvalue.ParamPadding: fl.Int(padding)}
		e, err := collect(t, ternaryOpen(t, r), 20_000, grad, rng).Estimate()
		if err != nil {
			t.Fatal(err)
		}
		for j, g := range grad {
			want := min(g, 2) * float64(padding) / 4
			if z := (e.Mean().Value[j] - want) / e.Mean().StdErr[j]; !(math.Abs(z) < 5.5) {
				t.Errorf("padding %d: coordinate %d: %g ± %g, want %g", padding, j, e.Mean().Value[j], e.Mean().StdErr[j], want)
			}
		}
	}
}

func TestSnapshotsMergeAndKeepTheName(t *testing.T) {
	m := ternaryOpen(t, ternaryRound(20, 3, 2))
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	grad := make([]float64, 20)
	grad[3], grad[9] = 1, -2
	left, right, restored := collect(t, m, 50, grad, rng), collect(t, m, 30, grad, rng), m.NewAggregator()
	if err := left.Merge(right); err != nil {
		t.Fatal(err)
	}
	data, err := left.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := restored.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	again, err := restored.MarshalBinary()
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("the snapshot is not restored: %v", err)
	}
	if e, err := restored.Estimate(); err != nil || e.Reports != 80 || e.Mechanism != rivals.PCKVTernary {
		t.Errorf("%+v, %v", e, err)
	}
	for _, other := range []fl.Mechanism{ternaryOpen(t, ternaryRound(21, 3, 2)), ternaryOpen(t, ternaryRound(20, 4, 2))} {
		if err := left.Merge(other.NewAggregator()); err == nil {
			t.Error("another round is merged")
		}
	}
	inner := ternaryRound(20, 3, 2)
	inner.Mechanism, inner.Params = keyvalue.PCKVGRR, fl.Params{keyvalue.ParamPadding: fl.Int(3)}
	if err := left.Merge(ternaryOpen(t, inner).NewAggregator()); err == nil {
		t.Error("an aggregator of another mechanism is merged")
	}
	if _, err := m.NewAggregator().Estimate(); !errors.Is(err, fl.ErrNoReports) {
		t.Errorf("%v, want ErrNoReports", err)
	}
}

// Of 20 coordinates 4 have the size τ and 4 τ/2, which makes 6 of the 6 entries: the sampler
// takes the first ones always and the others every second time. Frequencies are 1 and 1/2
// there, conditional means ±τ, and the columns come in the round's order. 20 frequencies
// within 5.5 standard errors, 8e-7. The conditional means have standard deviations below
// 2·√(6/20000) = 0.035 and are within 5.5 of those, 3e-7.
func TestColumnsAreThoseOfTheTernaryVectors(t *testing.T) {
	r := ternaryRound(20, 6, 8)
	r.Columns = []string{fl.ColumnConditional, fl.ColumnFrequency}
	grad := make([]float64, 20)
	for j := range 4 {
		grad[j], grad[10+j] = -2, 1
	}
	e, err := collect(t, ternaryOpen(t, r), 40_000, grad, rand.New(rand.NewChaCha8([32]byte{10}))).Estimate()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Columns) != 3 || e.Columns[1].Name != fl.ColumnConditional || e.Columns[2].Name != fl.ColumnFrequency || e.Mechanism != rivals.PCKVTernary {
		t.Fatalf("%d columns of %s", len(e.Columns), e.Mechanism)
	}
	conditional, frequency := e.Columns[1], e.Columns[2]
	for j, g := range grad {
		if z := (frequency.Value[j] - math.Abs(g)/2) / frequency.StdErr[j]; !(math.Abs(z) < 5.5) || frequency.StdErr[j] > 0.05 {
			t.Errorf("frequency of coordinate %d: %g ± %g, want %g", j, frequency.Value[j], frequency.StdErr[j], math.Abs(g)/2)
		}
		if g != 0 && math.Abs(conditional.Value[j]-2*g/math.Abs(g)) > 0.19 {
			t.Errorf("conditional mean of coordinate %d: %g, want %g", j, conditional.Value[j], 2*g/math.Abs(g))
		}
	}
}

// Reports and snapshots have the first version's bytes.
func TestTernaryGoldenBytes(t *testing.T) {
	fltest.Golden(t, fl.Round{
		ID: "r", Mechanism: rivals.PCKVTernary, Dim: 12, Scale: 2, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 10,
		PublicSeed: [32]byte{1}, Params: fl.Params{rivals.ParamSparsity: fl.Int(4)},
	}, "0d0a4edf7d3aed1b", "fd7576701c60f700")
}

func TestBadInputIsRefused(t *testing.T) {
	for param, change := range map[string]func(*fl.Round){
		rivals.ParamSparsity: func(r *fl.Round) { r.Params = fl.Params{rivals.ParamSparsity: fl.Int(6)} },
		"params":             func(r *fl.Round) { r.Params = r.Params.With("padding", fl.Int(2)) },
		"delta":              func(r *fl.Round) { r.Delta = 0.1 },
		"epsilon":            func(r *fl.Round) { r.Epsilon = math.Inf(1) },
	} {
		r := ternaryRound(5, 2, 1)
		change(&r)
		var p *fl.ParamError
		if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	m := ternaryOpen(t, ternaryRound(2, 1, 1))
	for _, bad := range [][]float64{{1}, {1, math.NaN()}, {math.Inf(1), 0}} {
		var p *fl.ParamError
		if got, err := m.Encode([]byte{9}, bad, nil); !errors.As(err, &p) || p.Param != "gradient" || len(got) != 1 {
			t.Errorf("%v: %v, %v", bad, got, err)
		}
	}
	if got, err := m.Encode([]byte{9}, []float64{1, 2}, nil); err != nil || len(got) != 1+m.(fl.ReportSizer).ReportBytes() {
		t.Errorf("%v, %v", got, err)
	}
	if g := m.Guarantee(); g != (fl.Guarantee{Trust: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne}) {
		t.Errorf("%+v", g)
	}
	if _, err := m.(fl.Amplifier).Shuffled().Epsilon(1000, 1e-6); err != nil {
		t.Error(err)
	}
}

func FuzzReport(f *testing.F) {
	m := ternaryOpen(f, ternaryRound(20, 3, 2))
	f.Add([]byte{3})
	f.Add([]byte{45})
	f.Fuzz(func(t *testing.T, report []byte) {
		agg := m.NewAggregator()
		if err := agg.Add(report); (err == nil) != (len(report) == 1 && report[0] < 2*23) {
			t.Errorf("% x: %v", report, err)
		}
	})
}

func BenchmarkTernaryEncodeAdd(b *testing.B) {
	grad := make([]float64, 2000)
	for j := range grad {
		grad[j] = float64(j%5)/8 + 0.01
	}
	grr := ternaryRound(2000, 64, 1)
	grr.Mechanism, grr.Params = keyvalue.PCKVGRR, fl.Params{keyvalue.ParamPadding: fl.Int(2000)}
	for _, r := range []fl.Round{ternaryRound(2000, 64, 1), grr} {
		b.Run(r.Mechanism, func(b *testing.B) {
			m := ternaryOpen(b, r)
			agg, rng, buffer := m.NewAggregator(), rand.New(rand.NewChaCha8([32]byte{7})), []byte(nil)
			b.ReportAllocs()
			for b.Loop() {
				report, err := m.Encode(buffer[:0], grad, rng)
				if err != nil {
					b.Fatal(err)
				}
				if err := agg.Add(report); err != nil {
					b.Fatal(err)
				}
				buffer = report
			}
		})
	}
}
