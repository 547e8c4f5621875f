package hdsum_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/hdsum/gkmps"
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
	r, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t testing.TB, r fl.Round) fl.Mechanism {
	t.Helper()
	m, err := fl.Open(completed(t, r))
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

func TestNameIsRegistered(t *testing.T) {
	if hdsum.Name != "sumdp" || !slices.Contains(fl.Mechanisms(), "sumdp") {
		t.Errorf("%q is not in %v", hdsum.Name, fl.Mechanisms())
	}
}

// A whole round: unbiased mean of the clipped gradients within the announced
// standard errors. (10 coordinates at 7 of them.)
func TestRoundGivesTheMean(t *testing.T) {
	for _, base := range []string{"gkmps", "bbgn"} {
		r := withBase(t, 10, base)
		r.Params = r.Params.With(hdsum.ParamRange, fl.Real(20)) // nothing is clipped
		m := open(t, r)
		agg := m.NewAggregator()
		grad := []float64{0.1, -0.2, 0.3, 0, 0.1, 0, -0.5, 0.2, 0, 0.9}
		rng := newRand(2)
		for range 40 {
			report, err := m.Encode([]byte{}, grad, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range e.Value {
			if math.Abs(v-grad[j]) > 7*e.StdErr[j] {
				t.Errorf("%s, coordinate %d: %g ± %g, want %g", base, j, v, e.StdErr[j], grad[j])
			}
		}
		g, err := hdsum.NewGradientSum(hdsum.GradientConfig{
			Clients: 30, Capacity: 1104, Dim: 10, Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne, ClipNorm: 2, Range: 20, Levels: 1, Beta: 0.1,
			Base: map[string]hdsum.Base{"gkmps": hdsum.GKMPS, "bbgn": hdsum.BBGN}[base], Calibration: gkmps.Tight,
		})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := g.Analyze(g.NewSums(), 40)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := e.StdErr[3], sum.StdErr/40; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: standard error %g of the mean, want %g", base, got, want)
		}
		if e.Reports != 40 || e.Mechanism != "sumdp" || e.Guarantee != m.Guarantee() || len(e.StdErr) != 10 {
			t.Errorf("%s: %+v", base, e)
		}
	}
}

// The mean is scaled by the reports and the noise by the clients: the same reports
// decoded with twice the clip norm are worth twice as much.
func TestScaleIsTheClipNorm(t *testing.T) {
	r := withBase(t, 10, "bbgn")
	large := r
	large.Scale *= 2
	var values [2][]float64
	for k, round := range []fl.Round{r, large} {
		m := open(t, round)
		agg := m.NewAggregator()
		rng := newRand(3)
		for range 40 {
			report, err := m.Encode(nil, []float64{9: 0.7 * round.Scale}, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		values[k] = append(e.Value, e.StdErr...)
	}
	for i, v := range values[0] {
		if math.Abs(2*v-values[1][i]) > 1e-12*(1+math.Abs(v)) {
			t.Errorf("number %d is %g and %g", i, v, values[1][i])
		}
	}
}

func TestGuaranteeIsInTheShuffleModel(t *testing.T) {
	for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		r := plainRound(10)
		r.Relation = relation
		want := fl.Guarantee{Model: fl.Shuffle, Epsilon: 4, Delta: 1e-6, Relation: relation}
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

// The announced cost is about that of real gradients.
func TestMechanismCost(t *testing.T) {
	for _, base := range []string{"gkmps", "bbgn"} {
		m := open(t, withBase(t, 100, base))
		bytes := 0.0
		for _, r := range reports(t, m, 100, 20) {
			bytes += float64(len(r)) / 20
		}
		c := m.(fl.Coster).Cost()
		if bytes > 1.35*c.Bytes || bytes < 0.2*c.Bytes { // zstd saves up to three quarters
			t.Errorf("%s: %.0f bytes, announced %.0f", base, bytes, c.Bytes)
		}
		if c.Messages <= 0 {
			t.Errorf("%s: %g messages", base, c.Messages)
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
