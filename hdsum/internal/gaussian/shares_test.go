package gaussian

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

func newRand(seed byte) *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{9, seed})) }

// testRound leaves every parameter open.
func testRound(dim int) fl.Round {
	return fl.Round{
		ID: "r1", Mechanism: SharesName, Dim: dim, Scale: 2, Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne,
		MinReports: 3, PublicSeed: [32]byte{1, 2, 3},
	}
}

func open(t testing.TB, r fl.Round) *mechanism {
	t.Helper()
	_, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*mechanism)
}

// ringOf returns the ring in which a mechanism shares vectors.
func ringOf(m *mechanism) ring { return m.sharing.(masks).ring }

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

// The error of whole rounds is the noise of both servers and the reports' rounding.
func TestTheErrorIsThatOfTheNoise(t *testing.T) {
	r := testRound(3)
	m := open(t, r)
	for _, reports := range []int{3, 12} {
		each := m.StandardError(reports, reports)
		err := fltest.Rounds(r, fltest.Accuracy{
			Gradients: [][]float64{{1, 0, -1}, {0.5, 0.5, 0}, {-1, 1, 1}}, Truth: []float64{0.5 / 3, 0.5, 0},
			MSE: 3 * each * each * float64(reports), Reports: reports, Rounds: 400, StdErrFactor: 1.1, NoiseFactor: 1.1,
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
		if want := (fl.Guarantee{Trust: fl.TwoServers, Epsilon: 4, Delta: 1e-6, Relation: relation, Sigma: g.Sigma}); g != want || !(g.Sigma > 0) {
			t.Errorf("%v, want %v", g, want)
		}
		if text := g.String(); !strings.Contains(text, "two-servers model, against either server alone") {
			t.Errorf("%q does not say against whom it holds", text)
		}
	}
}

func TestRoundsWithBadParametersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fl.Round)
		param  string
	}{
		"no privacy":       {func(r *fl.Round) { r.Epsilon = math.Inf(1) }, "epsilon"},
		"no delta":         {func(r *fl.Round) { r.Delta = 0 }, "delta"},
		"lost delta":       {func(r *fl.Round) { r.Delta = 1e-30 }, "delta"},
		"one client":       {func(r *fl.Round) { r.MinReports = 1 }, ""},
		"dim":              {func(r *fl.Round) { r.Dim = 1<<24 + 1 }, "dim"},
		"tiny epsilon":     {func(r *fl.Round) { r.Epsilon = 1e-16 }, "epsilon"},
		"too much noise":   {func(r *fl.Round) { r.Epsilon, r.Dim = 1e-4, 1<<20 }, "epsilon"},
		"many clients":     {func(r *fl.Round) { r.MinReports = 1e9 }, ""},
		"a parameter":      {func(r *fl.Round) { r.Params = fl.Params{"levels": fl.Int(1)} }, "params"},
		"scale":            {func(r *fl.Round) { r.Scale = 1e-320 }, "scale"},
		"all is as before": {func(*fl.Round) {}, ""},
	} {
		r := testRound(5)
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
