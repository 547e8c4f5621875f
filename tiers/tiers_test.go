package tiers_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	_ "github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/keyvalue"
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
	r, _, err := fl.Complete(r)
	return r, err
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

func TestContract(t *testing.T) {
	for _, base := range []string{"coco", "pckv-grr"} {
		r, err := round(t, func(r *fl.Round) {
			r.Params["base"] = fl.Text(base)
			if base != "coco" {
				delete(r.Params, "sparsity")
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// A round in other units is the same round: weights are equal, and values and errors scale,
// also where squares would overflow or vanish.
func TestScaleIsAUnit(t *testing.T) {
	var first *fl.Estimate
	for _, scale := range []float64{1, 0x1p-700, 0x1p600} {
		r, err := round(t, func(r *fl.Round) {
			r.Scale = scale
			r.Params["radius"] = fl.Real(0.25)
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		g, agg, rng := grad(), m.NewAggregator(), rand.New(rand.NewChaCha8([32]byte{5}))
		for j := range g {
			g[j] *= scale
		}
		for i := range 60 {
			report, err := m.(fl.TieredMechanism).EncodeTier(nil, i%3, g, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.Estimate()
		if err != nil {
			t.Fatalf("scale %g: %v", scale, err)
		}
		if first == nil {
			first = e
		}
		for j, se := range e.Mean().StdErr {
			want, value := first.Mean().StdErr[j], first.Mean().Value[j]
			if math.Abs(se/scale/want-1) > 1e-12 || math.Abs(e.Mean().Value[j]/scale-value) > 1e-12*want {
				t.Fatalf("scale %g, coordinate %d: %g ± %g, want %g ± %g times the scale", scale, j, e.Mean().Value[j], se, value, want)
			}
		}
		for i, tier := range e.Tiers {
			if math.Abs(tier.Weight-first.Tiers[i].Weight) > 1e-12 {
				t.Errorf("scale %g: weight %g of tier %d, want %g", scale, tier.Weight, i, first.Tiers[i].Weight)
			}
		}
	}
}

// Reports and snapshots have the first version's bytes.
func TestGoldenBytes(t *testing.T) {
	r := fl.Round{Mechanism: tiers.Name, Epsilon: 2, Params: fl.Params{"base": fl.Text("coco"), "menu": fl.Text("0.5,2"), "sparsity": fl.Int(4)}}
	fltest.Golden(t, r, "ed2d50edf171e01d", "b30cd1a538b310cd")
}

func TestTheMenuIsWhatTheTiersPromise(t *testing.T) {
	m := open(t)
	menu := m.Tiers()
	if len(menu) != 3 || menu[0].Epsilon != 0.5 || menu[1].Epsilon != 2 || menu[2].Epsilon != 8 || m.Guarantee() != menu[0] {
		t.Errorf("menu %v, guarantee %v", menu, m.Guarantee())
	}
	for _, g := range menu {
		if g.Trust != fl.Local || g.Relation != fl.ReplaceOne {
			t.Errorf("guarantee %v", g)
		}
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
