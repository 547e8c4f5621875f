package hdsum_test

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

var params = []string{
	hdsum.ParamLevels, hdsum.ParamRange, hdsum.ParamBase, hdsum.ParamCalibration, hdsum.ParamComposition, hdsum.ParamSelect, hdsum.ParamBeta,
}

func TestCompleteFillsEveryParameter(t *testing.T) {
	open := plainRound(50)
	r := completed(t, open)
	for _, name := range params {
		if !r.Params.Has(name) {
			t.Errorf("%s is missing", name)
		}
	}
	if len(open.Params) != 0 {
		t.Errorf("the given round changed: %v", open.Params)
	}
	if again := completed(t, r); !again.Equal(r) {
		t.Errorf("completed again: %v, was %v", again.Params, r.Params)
	}
	if base, err := r.Params.Text(hdsum.ParamBase); err != nil || base != "gkmps" {
		t.Errorf("base %q, %v", base, err)
	}
	// What is given stays.
	given := fl.Params{
		hdsum.ParamLevels: fl.Int(3), hdsum.ParamRange: fl.Real(1.5), hdsum.ParamBase: fl.Text("bbgn"), hdsum.ParamCalibration: fl.Text("published"),
		hdsum.ParamComposition: fl.Text("paper"), hdsum.ParamSelect: fl.Text("threshold"), hdsum.ParamBeta: fl.Real(0.2),
	}
	open.Params = given
	kept := completed(t, open)
	for name, v := range given {
		if kept.Params[name] != v {
			t.Errorf("%s became %v, was %v", name, kept.Params[name], v)
		}
	}
	open.Relation = 0
	if r := completed(t, open); r.Relation != fl.ReplaceOne {
		t.Errorf("relation %v", r.Relation)
	}
}

// The protocol picked is the one whose reports are announced shorter.
func TestCompletePicksTheShorterReport(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		clients, levels int
	}{{30, 1}, {6000, 1}, {30, 256}, {1_000_000, 1}} {
		r := plainRound(8)
		r.MinReports, r.TargetReports = c.clients, 0
		r.Params = fl.Params{}.With(hdsum.ParamLevels, fl.Int(c.levels))
		picked, err := completed(t, r).Params.Text(hdsum.ParamBase)
		if err != nil {
			t.Fatal(err)
		}
		bytes := map[string]float64{}
		for _, base := range []string{"gkmps", "bbgn"} {
			r.Params = r.Params.With(hdsum.ParamBase, fl.Text(base))
			g, err := hdsum.NewGradientSum(hdsum.GradientConfig{
				Clients: c.clients, Capacity: 2*c.clients + 1024, Dim: r.Dim, Epsilon: r.Epsilon, Delta: r.Delta, Relation: r.Relation,
				Base: map[string]hdsum.Base{"gkmps": hdsum.GKMPS, "bbgn": hdsum.BBGN}[base], ClipNorm: 2, Range: 2, Levels: int64(c.levels), Beta: 0.1,
			})
			if err != nil {
				t.Fatal(err)
			}
			bytes[base] = g.Cost().Bytes
		}
		if want := map[bool]string{true: "bbgn", false: "gkmps"}[bytes["bbgn"] < bytes["gkmps"]]; picked != want {
			t.Errorf("%+v: picked %s, bytes %v", c, picked, bytes)
		}
		seen[picked] = true
	}
	if len(seen) != 2 {
		t.Errorf("picked only %v", seen)
	}
}

func TestRoundsWithBadParametersAreRefused(t *testing.T) {
	with := func(name string, v fl.Value) func(*fl.Round) {
		return func(r *fl.Round) { r.Params = r.Params.With(name, v) }
	}
	type refusal struct {
		mutate func(*fl.Round)
		param  string
	}
	cases := map[string]refusal{
		"no privacy":      {func(r *fl.Round) { r.Epsilon = math.Inf(1) }, "epsilon"},
		"delta 0":         {func(r *fl.Round) { r.Delta = 0 }, "delta"},
		"one report":      {func(r *fl.Round) { r.MinReports = 1 }, "min_reports"},
		"least scale":     {func(r *fl.Round) { r.Scale = math.SmallestNonzeroFloat64 }, "clip_norm"},
		"levels 0":        {with("levels", fl.Int(0)), "levels"},
		"negative levels": {with("levels", fl.Int(-1)), "levels"},
		"many levels":     {with("levels", fl.Int(1<<20+1)), "levels"},
		"levels text":     {with("levels", fl.Text("1")), "levels"},
		"range 0":         {with("range", fl.Real(0)), "range"},
		"large range":     {with("range", fl.Real(1001)), "range"},
		"range text":      {with("range", fl.Text("2")), "range"},
		"base":            {with("base", fl.Text("GKMPS")), "base"},
		"base integer":    {with("base", fl.Int(1)), "base"},
		"calibration":     {with("calibration", fl.Text("")), "calibration"},
		"composition":     {with("composition", fl.Text("basic")), "composition"},
		"select":          {with("select", fl.Text("none")), "select"},
		"beta 0":          {with("beta", fl.Real(0)), "beta"},
		"beta 1":          {with("beta", fl.Real(1)), "beta"},
		"unknown":         {with("level", fl.Int(1)), "params"},
	}
	for _, name := range params {
		cases["without "+name] = refusal{func(r *fl.Round) { delete(r.Params, name) }, name}
	}
	for what, c := range cases {
		r := completed(t, plainRound(10))
		c.mutate(&r)
		var p *fl.ParamError
		if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want a ParamError for %s", what, err, c.param)
		}
	}
	r := plainRound(10)
	r.Delta = 0
	var p *fl.ParamError
	if _, err := fl.Complete(r); !errors.As(err, &p) || p.Param != "delta" {
		t.Errorf("complete without delta: %v", err)
	}
}
