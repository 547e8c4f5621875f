package tiers_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/tiers"
)

func round(t testing.TB, mutate func(*fl.Round)) (fl.Round, error) {
	t.Helper()
	r := fl.Round{
		ID: "r", Mechanism: tiers.Name, Dim: 30, Scale: 0.5, Epsilon: 8, MinReports: 10, PublicSeed: [32]byte{1},
		Params: fl.Params{"base": fl.Text("coco"), "menu": fl.Text("0.5, 2,8"), "sparsity": fl.Int(6)},
	}
	if mutate != nil {
		mutate(&r)
	}
	return fl.Complete(r)
}

func open(t testing.TB) fl.TieredMechanism {
	t.Helper()
	r, err := round(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(fl.TieredMechanism)
}

// grad is the gradient of every client, within what the scale and sparsity allow.
func grad() []float64 {
	g := make([]float64, 30)
	for j := range 10 {
		g[j] = 0.25 - 0.05*float64(j)
	}
	return g
}

func TestTheMenuIsWhatTheTiersPromise(t *testing.T) {
	m := open(t)
	menu := m.Tiers()
	if len(menu) != 3 || menu[0].Epsilon != 0.5 || menu[1].Epsilon != 2 || menu[2].Epsilon != 8 || m.Guarantee() != menu[0] {
		t.Errorf("menu %v, guarantee %v", menu, m.Guarantee())
	}
	for _, g := range menu {
		if g.Model != fl.Local || g.Relation != fl.ReplaceOne {
			t.Errorf("guarantee %v", g)
		}
	}
}

// The combined mean is unbiased: 30 coordinates are within 5.5 standard errors
// (probability of a false alarm 1.2e-6), its standard errors are smaller than those of
// the best tier alone, and the weights favour the tiers that tell more.
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
		if z := math.Abs(e.Value[j]-want) / e.StdErr[j]; z > 5.5 {
			t.Errorf("coordinate %d: %g ± %g, want %g", j, e.Value[j], e.StdErr[j], want)
		}
	}
	var sum float64
	for i, tier := range e.Tiers {
		sum += tier.Weight
		if tier.Reports != int64(counts[i]) {
			t.Errorf("tier %d: %+v", i, tier)
		}
		one, err := alone[i].Estimate()
		if err != nil {
			t.Fatal(err)
		}
		if e.StdErr[0] >= one.StdErr[0] {
			t.Errorf("tier %d alone has the standard error %g, all together %g", i, one.StdErr[0], e.StdErr[0])
		}
		if w := one.Tiers[i].Weight; w != 1 {
			t.Errorf("tier %d alone has weight %g", i, w)
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

func TestBadMenusAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		mutate func(*fl.Round)
		param  string
	}{
		"no menu":       {func(r *fl.Round) { delete(r.Params, "menu") }, "menu"},
		"not a number":  {func(r *fl.Round) { r.Params["menu"] = fl.Text("1,x,8") }, "menu"},
		"decreasing":    {func(r *fl.Round) { r.Params["menu"] = fl.Text("2,1,8") }, "menu"},
		"zero":          {func(r *fl.Round) { r.Params["menu"] = fl.Text("0,8") }, "menu"},
		"too large":     {func(r *fl.Round) { r.Params["menu"] = fl.Text("8,21") }, "menu"},
		"epsilon":       {func(r *fl.Round) { r.Epsilon = 7 }, "epsilon"},
		"no base":       {func(r *fl.Round) { delete(r.Params, "base") }, "base"},
		"itself":        {func(r *fl.Round) { r.Params["base"] = fl.Text("tiers") }, "base"},
		"unknown base":  {func(r *fl.Round) { r.Params["base"] = fl.Text("magic") }, "mechanism"},
		"radius":        {func(r *fl.Round) { r.Params["radius"] = fl.Real(-1) }, "radius"},
		"base's own":    {func(r *fl.Round) { r.Params["sparsity"] = fl.Int(31) }, "sparsity"},
		"shuffle model": {func(r *fl.Round) { r.Params["base"] = fl.Text("sumdp"); delete(r.Params, "sparsity"); r.Delta = 1e-6 }, "min_reports"},
	} {
		_, err := round(t, c.mutate)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want a ParamError for %s", name, err, c.param)
		}
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
