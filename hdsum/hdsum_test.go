package hdsum_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/hdsum"
)

var (
	bases     = []string{"gkmps", "bbgn"}
	protocols = map[string]hdsum.Protocol{"gkmps": hdsum.GKMPS, "bbgn": hdsum.BBGN}
)

func newRand(seed byte) *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{8, seed})) }

// plainRound leaves every parameter open.
func plainRound(dim int) fl.Round {
	return fl.Round{
		ID: "r1", Mechanism: hdsum.Name, Dim: dim, Scale: 2, Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne,
		MinReports: 30, TargetReports: 40, PublicSeed: [32]byte{1, 2, 3},
	}
}

func completed(t testing.TB, r fl.Round) fl.Round {
	t.Helper()
	r, _, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t testing.TB, r fl.Round) fl.Mechanism {
	t.Helper()
	_, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// withBase is a completed round with a protocol.
func withBase(t testing.TB, dim int, base string) fl.Round {
	t.Helper()
	r := plainRound(dim)
	r.Params = fl.Params{}.With(hdsum.ParamBase, fl.Text(base)).With(hdsum.ParamCalibration, fl.Text("tight"))
	return completed(t, r)
}

func reports(t testing.TB, m fl.Mechanism, dim, n int) [][]byte {
	t.Helper()
	rng := newRand(1)
	grad := make([]float64, dim)
	out := make([][]byte, n)
	for i := range out {
		for j := range grad {
			grad[j] = rng.NormFloat64()
		}
		var err error
		if out[i], err = m.Encode(nil, grad, rng); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

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
		for _, base := range bases {
			r.Params = r.Params.With(hdsum.ParamBase, fl.Text(base))
			g, err := hdsum.NewGradientSum(hdsum.GradientConfig{
				Config: hdsum.Config{Clients: c.clients, Capacity: 2*c.clients + 1024, Epsilon: r.Epsilon, Delta: r.Delta, Relation: r.Relation, Base: protocols[base]},
				Dim:    r.Dim, ClipNorm: 2, Range: 2, Levels: int64(c.levels), Beta: 0.1,
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
	if _, _, err := fl.Complete(r); !errors.As(err, &p) || p.Param != "delta" {
		t.Errorf("complete without delta: %v", err)
	}
}

func TestNameIsRegistered(t *testing.T) {
	if hdsum.Name != "sumdp" || !slices.Contains(fl.Mechanisms(), "sumdp") {
		t.Errorf("%q is not in %v", hdsum.Name, fl.Mechanisms())
	}
}

func TestGuaranteeIsInTheShuffleModel(t *testing.T) {
	for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		r := plainRound(10)
		r.Relation = relation
		want := fl.Guarantee{Trust: fl.Shuffle, Epsilon: 4, Delta: 1e-6, Relation: relation}
		if got := open(t, r).Guarantee(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	m := open(t, plainRound(10))
	for what, grad := range map[string][]float64{"short": make([]float64, 9), "NaN": {9: math.NaN()}, "infinite": {9: math.Inf(1)}, "nothing": nil} {
		dst, err := m.Encode([]byte("x"), grad, newRand(4))
		var p *fl.ParamError
		if !errors.As(err, &p) || string(dst) != "x" {
			t.Errorf("%s: %q, error %v", what, dst, err)
		}
	}
	report, err := m.Encode([]byte("x"), make([]float64, 10), nil) // draws its own randomness
	if err != nil || report[0] != 'x' {
		t.Fatal(err)
	}
	if err := m.NewAggregator().Add(report[1:]); err != nil {
		t.Error(err)
	}
}

// The announced cost is about the cost of real gradients. With a thousand million clients
// GKMPS sends hardly any noise.
func TestMechanismCost(t *testing.T) {
	for _, base := range bases {
		for _, clients := range []int{30, 1_000_000_000} {
			r := withBase(t, 100, base)
			r.MinReports, r.TargetReports = clients, 0
			m := open(t, r)
			bytes := 0.0
			for _, r := range reports(t, m, 100, 20) {
				bytes += float64(len(r)) / 20
			}
			c := m.(fl.Coster).Cost()
			if bytes > 1.35*c.Bytes || bytes < 0.2*c.Bytes { // zstd saves up to three quarters
				t.Errorf("%s, %d clients: %.0f bytes, announced %.0f", base, clients, bytes, c.Bytes)
			}
			if c.Messages <= 0 {
				t.Errorf("%s, %d clients: %g messages", base, clients, c.Messages)
			}
		}
	}
}

func TestAdviceOnLevels(t *testing.T) {
	for _, c := range []struct {
		levels int
		choose string
		want   int
	}{{1, "all", 0}, {4, "all", 1}, {4, "threshold", 0}} {
		r := plainRound(4)
		r.Params = fl.Params{}.With(hdsum.ParamLevels, fl.Int(c.levels)).With(hdsum.ParamSelect, fl.Text(c.choose)).With(hdsum.ParamBase, fl.Text("bbgn"))
		if got := open(t, r).(fl.Adviser).Advice(); len(got) != c.want {
			t.Errorf("%d levels, %s: %q", c.levels, c.choose, got)
		}
	}
}

// Both protocols, both relations, and a round that leaves no default.
func TestContract(t *testing.T) {
	for b, base := range bases {
		for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
			plain, rich := withBase(t, 10, base), withBase(t, 10, base)
			rich.Params = rich.Params.With(hdsum.ParamLevels, fl.Int(3)).With(hdsum.ParamSelect, fl.Text("threshold"))
			for i, r := range []fl.Round{plain, rich} {
				if !*hdsum.Long && (b != i || (i == 0) != (relation == fl.ReplaceOne)) {
					continue // one base without levels, the other with them, and each with another relation
				}
				r.Relation = relation
				if err := fltest.Mechanism(r, fltest.Options{Biased: i == 1}); err != nil { // a threshold drops small sums
					t.Errorf("%v, %s: %v", r.Params, relation, err)
				}
			}
		}
	}
}

// What is planned with is the standard error that an estimate states, and at least this where a threshold drops small sums.
func TestTheStandardErrorIsKnownBeforehand(t *testing.T) {
	for _, selection := range []string{"", "threshold"} {
		r := withBase(t, 10, "bbgn")
		if selection != "" {
			r.Params = r.Params.With(hdsum.ParamLevels, fl.Int(3)).With(hdsum.ParamSelect, fl.Text(selection))
		}
		_, m, err := fl.Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		a := m.NewAggregator()
		const reports = 30
		for range reports {
			report, err := m.Encode(nil, make([]float64, 10), fl.NewRand())
			if err == nil {
				err = a.Add(report)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		e, err := a.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		known, stated := m.(interface{ StandardError(_, reports int) float64 }).StandardError(reports, reports), e.Mean().StdErr[0]
		if off := stated/known - 1; off > 1e-9 || selection == "" && off < -1e-9 {
			t.Errorf("selection %q: %g is known beforehand, and the estimate states %g", selection, known, stated)
		}
	}
}
