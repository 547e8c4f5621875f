package tiers_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/sparse"
)

// The combined mean is unbiased: 30 coordinates are within 5.5 standard errors
// (probability of a false alarm 1.2e-6), its standard errors are smaller than the best
// tier's alone, and the weights favour the tiers that ask for less privacy.
func TestMixedClientsBeatEachTierAlone(t *testing.T) {
	m := open(t)
	rng := rand.New(rand.NewChaCha8([32]byte{61}))
	mixed, alone := m.NewAggregator(), []fl.Aggregator{m.NewAggregator(), m.NewAggregator(), m.NewAggregator()}
	counts := []int{3000, 1500, 600}
	for tier, n := range counts {
		for range n {
			report, err := m.EncodeTier(nil, tier, grad(), rng)
			if err != nil {
				t.Fatal(err)
			}
			for _, agg := range []fl.Aggregator{mixed, alone[tier]} {
				if err := agg.Add(report); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	e, err := mixed.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range grad() {
		if z := math.Abs(e.Mean().Value[j]-want) / e.Mean().StdErr[j]; z > 5.5 {
			t.Errorf("coordinate %d: %g ± %g, want %g", j, e.Mean().Value[j], e.Mean().StdErr[j], want)
		}
	}
	var sum, noise2 float64
	for i, tier := range e.Tiers {
		sum += tier.Weight
		if tier.Reports != int64(counts[i]) {
			t.Errorf("tier %d: %+v", i, tier)
		}
		one, err := alone[i].Estimate()
		if err != nil {
			t.Fatal(err)
		}
		noise2 += math.Pow(tier.Weight*one.NoiseNorm, 2)
		if e.Mean().StdErr[0] >= one.Mean().StdErr[0] {
			t.Errorf("tier %d alone has the standard error %g, all together %g", i, one.Mean().StdErr[0], e.Mean().StdErr[0])
		}
		if w := one.Tiers[i].Weight; w != 1 {
			t.Errorf("tier %d alone has weight %g", i, w)
		}
	}
	if want := math.Sqrt(noise2); !(math.Abs(e.NoiseNorm-want) <= 1e-12*want) {
		t.Errorf("norm of the noise %g, want %g from the tiers", e.NoiseNorm, want)
	}
	// The weights follow from the exact errors, and from no report.
	var precisions [3]float64
	total := 0.0
	for i, epsilon := range []float64{0.5, 2, 8} {
		mse, err := coco.Scheme.LeastMSE(sparse.Point{Dim: 30, Sparsity: 6, Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		precisions[i] = float64(counts[i]) / mse
		total += precisions[i]
	}
	for i, tier := range e.Tiers {
		if math.Abs(tier.Weight-precisions[i]/total) > 1e-9 {
			t.Errorf("tier %d has weight %g, want %g", i, tier.Weight, precisions[i]/total)
		}
	}
	if math.Abs(sum-1) > 1e-12 || e.Tiers[0].Weight > e.Tiers[2].Weight || e.Reports != 5100 || e.Guarantee.Epsilon != 8 {
		t.Errorf("%+v of %d reports under %v", e.Tiers, e.Reports, e.Guarantee)
	}
}

func TestAggregatorsMergeRestoreAndRefuse(t *testing.T) {
	m := open(t)
	rng := rand.New(rand.NewChaCha8([32]byte{62}))
	var reports [][]byte
	for i := range 60 {
		report, err := m.EncodeTier(nil, i%3, grad(), rng)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, report)
	}
	whole, left, right := m.NewAggregator(), m.NewAggregator(), m.NewAggregator()
	if _, err := whole.Estimate(); !errors.Is(err, fl.ErrNoReports) {
		t.Errorf("no reports: %v", err)
	}
	if err := fl.AddBatch(m, whole, reports); err != nil {
		t.Fatal(err)
	}
	if err := fl.AddBatch(m, left, reports[:25]); err != nil {
		t.Fatal(err)
	}
	for _, r := range reports[25:] {
		if err := right.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := right.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	restored := open(t).NewAggregator()
	if err := restored.UnmarshalBinary(stored); err != nil {
		t.Fatal(err)
	}
	if err := left.Merge(restored); err != nil {
		t.Fatal(err)
	}
	want, err := whole.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := left.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the parts differ from the whole (%v)", err)
	}
	for n := range 20 {
		if err := m.NewAggregator().UnmarshalBinary(stored[:len(stored)-1-n]); err == nil {
			t.Errorf("a snapshot without its last %d bytes was restored", n+1)
		}
	}
	bad := [][]byte{nil, {3, 0, 0}, {0}, append([]byte{1}, reports[0][1:3]...)}
	for _, report := range bad {
		if err := whole.Add(report); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("% x: %v, want ErrBadReport", report, err)
		}
		var b *fl.BatchError
		if err := fl.AddBatch(m, whole, [][]byte{reports[0], report}); !errors.As(err, &b) || b.Index != 1 {
			t.Errorf("% x in a batch: %v, want a BatchError for reports[1]", report, err)
		}
	}
	if again, err := whole.MarshalBinary(); err != nil || !bytes.Equal(again, want) {
		t.Errorf("refused reports were counted (%v)", err)
	}
	other, err := round(t, func(r *fl.Round) { r.Dim = 31 })
	if err != nil {
		t.Fatal(err)
	}
	o, err := fl.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := whole.Merge(o.NewAggregator()); err == nil {
		t.Error("merged another round")
	}
	if out, err := m.EncodeTier([]byte("x"), 3, grad(), nil); err == nil || string(out) != "x" {
		t.Errorf("tier 3: %q, %v", out, err)
	}
	if out, err := m.EncodeTier([]byte("x"), 1, grad()[1:], nil); err == nil || string(out) != "x" {
		t.Errorf("a short gradient: %q, %v", out, err)
	}
}

func FuzzUnmarshal(f *testing.F) {
	m := open(f)
	seed, err := m.NewAggregator().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		if agg := m.NewAggregator(); agg.UnmarshalBinary(data) == nil {
			if _, err := agg.MarshalBinary(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
