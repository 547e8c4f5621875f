package shares

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/internal/sample"
)

func newRand(seed byte) *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{9, seed})) }

// testRound leaves every parameter open.
func testRound(dim int) fl.Round {
	return fl.Round{
		ID: "r1", Mechanism: Name, Dim: dim, Scale: 2, Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne,
		MinReports: 3, PublicSeed: [32]byte{1, 2, 3},
	}
}

// oneLevel has inputs of −1, 0 and 1 and no clipping but that to Scale, where dim is 1.
func oneLevel(dim, clients int) fl.Round {
	r := testRound(dim)
	r.MinReports, r.Epsilon = clients, 1
	r.Params = fl.Params{ParamLevels: fl.Int(1), ParamRange: fl.Real(1)}
	return r
}

func open(t testing.TB, r fl.Round) *mechanism {
	t.Helper()
	_, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*mechanism)
}

func TestTheContractIsKept(t *testing.T) {
	for _, dim := range []int{1, 3, 20} {
		for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
			r := testRound(dim)
			r.Relation = relation
			r, _, err := fl.Complete(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
				t.Errorf("dim %d, %v: %v", dim, relation, err)
			}
		}
	}
}

// The error of whole rounds is the noise's: with 2^12 levels rounding is negligible,
// below 1e-4 of it, and a range of 4 clips no coordinate of these gradients.
func TestTheErrorIsThatOfTheNoise(t *testing.T) {
	r := testRound(3)
	r.Params = fl.Params{ParamLevels: fl.Int(1 << 12), ParamRange: fl.Real(4)}
	m := open(t, r)
	perCoordinate := m.quantizer.Unit() * m.quantizer.Unit() * sample.DiscreteLaplace{Eta: m.noise.Eta}.Variance() / 4
	for _, reports := range []int{3, 12} {
		// Noise grows with the reports: the variance of the mean is (reports/3)·noise/reports².
		err := fltest.Rounds(r, fltest.Accuracy{
			Gradients: [][]float64{{1, 0, -1}, {0.5, 0.5, 0}, {-1, 1, 1}}, Truth: []float64{0.5 / 3, 0.5, 0},
			MSE: 3 * perCoordinate / 3, Reports: reports, Rounds: 400, StdErrFactor: 1.1, NoiseFactor: 1.1,
		})
		if err != nil {
			t.Errorf("%d reports: %v", reports, err)
		}
	}
}

func TestTheGuaranteeNamesTwoServers(t *testing.T) {
	for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		r := testRound(5)
		r.Relation = relation
		g := open(t, r).Guarantee()
		if want := (fl.Guarantee{Trust: fl.TwoServers, Epsilon: 4, Delta: 1e-6, Relation: relation}); g != want {
			t.Errorf("%v, want %v", g, want)
		}
		if text := g.String(); !strings.Contains(text, "two-servers model, against one passive server") {
			t.Errorf("%q does not say against whom it holds", text)
		}
	}
}

func TestCompleteChoosesLevels(t *testing.T) {
	few, many := testRound(5), testRound(5)
	many.MinReports = 1_000_000
	for _, c := range []struct {
		r    fl.Round
		want int
	}{{few, 1}, {many, 512}} {
		r, _, err := fl.Complete(c.r)
		if err != nil {
			t.Fatal(err)
		}
		levels, err := r.Params.Int(ParamLevels)
		if err != nil || levels != c.want {
			t.Errorf("%d clients: %d levels, %v, want %d", c.r.MinReports, levels, err, c.want)
		}
		if again, _, err := fl.Complete(r); err != nil || !again.Equal(r) {
			t.Errorf("completed again: %v, %v", again.Params, err)
		}
		m := open(t, r)
		rounding, noise := float64(r.MinReports)/4, sample.DiscreteLaplace{Eta: m.noise.Eta}.Variance()
		if rounding > 0.05*noise {
			t.Errorf("%d clients: rounding adds %g to a noise of %g", r.MinReports, rounding, noise)
		}
		if less, err := calibrate(r, 8, int64(levels/2)); levels > 1 && (err != nil || rounding <= 0.05*sample.DiscreteLaplace{Eta: less.Eta}.Variance()) {
			t.Errorf("%d clients: half of %d levels would do (%v)", r.MinReports, levels, err)
		}
	}
	given := testRound(5)
	given.Params = fl.Params{ParamLevels: fl.Int(7), ParamRange: fl.Real(0.8)}
	if r, _, err := fl.Complete(given); err != nil || !r.Equal(given) {
		t.Errorf("what was given became %v, %v", r.Params, err)
	}
}

func TestRoundsWithBadParametersAreRefused(t *testing.T) {
	with := func(name string, v fl.Value) func(*fl.Round) {
		return func(r *fl.Round) { r.Params = r.Params.With(name, v) }
	}
	for name, c := range map[string]struct {
		change func(*fl.Round)
		param  string
	}{
		"no privacy":       {func(r *fl.Round) { r.Epsilon = math.Inf(1) }, "epsilon"},
		"no delta":         {func(r *fl.Round) { r.Delta = 0 }, "delta"},
		"lost delta":       {func(r *fl.Round) { r.Delta = 1e-201 }, "delta"},
		"one client":       {func(r *fl.Round) { r.MinReports = 1 }, "min_reports"},
		"dim":              {func(r *fl.Round) { r.Dim = 1<<23 + 1 }, "dim"},
		"tiny epsilon":     {func(r *fl.Round) { r.Epsilon, r.Delta = 1e-16, 1e-200 }, "epsilon"},
		"too many sums":    {func(r *fl.Round) { r.MinReports = 1e9; r.Params = r.Params.With(ParamLevels, fl.Int(1<<20)) }, ""},
		"a sum too large":  {func(r *fl.Round) { r.Epsilon, r.Delta = 1e-13, 1e-200 }, "levels"},
		"no levels":        {with(ParamLevels, fl.Int(0)), "levels"},
		"levels":           {with(ParamLevels, fl.Int(1<<20+1)), "levels"},
		"range":            {with(ParamRange, fl.Real(0)), "range"},
		"range of a text":  {with(ParamRange, fl.Text("2")), "range"},
		"unknown":          {with("base", fl.Text("bbgn")), "params"},
		"scale":            {func(r *fl.Round) { r.Scale = 1e-320 }, "clip_norm"},
		"missing levels":   {func(r *fl.Round) { r.Params = fl.Params{ParamRange: fl.Real(2)} }, "levels"},
		"missing a range":  {func(r *fl.Round) { r.Params = fl.Params{ParamLevels: fl.Int(1)} }, "range"},
		"all is as before": {func(*fl.Round) {}, ""},
	} {
		r := testRound(5)
		r.Params = fl.Params{ParamLevels: fl.Int(1), ParamRange: fl.Real(2)}
		c.change(&r)
		_, err := fl.Open(r)
		var p *fl.ParamError
		switch {
		case c.param == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.param != "" && (!errors.As(err, &p) || p.Param != c.param):
			t.Errorf("%s: %v, want a ParamError for %s", name, err, c.param)
		}
	}
}
