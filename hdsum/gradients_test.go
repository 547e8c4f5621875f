package hdsum

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/rotation"
)

var goodGradients = GradientConfig{
	Config: Config{Clients: 200, Capacity: 1000, Epsilon: 8, Delta: 1e-6, Relation: fl.ReplaceOne},
	Dim:    12, ClipNorm: 2, Range: 2, Levels: 1, Beta: 0.1,
}

func newGradients(t testing.TB, c GradientConfig) *GradientSum {
	t.Helper()
	g, err := NewGradientSum(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// addGradient adds one client's messages.
func addGradient(t *testing.T, g *GradientSum, sums *Sums, grad []float64, rng *rand.Rand) {
	t.Helper()
	m, err := g.Encode(grad, rng)
	if err != nil {
		t.Fatal(err)
	}
	if err := sums.Add(m); err != nil {
		t.Fatal(err)
	}
}

// clipped is what a gradient counts for: clipped to its norm, rotated, clipped to
// the range, rotated back.
func clipped(t testing.TB, c GradientConfig, grad []float64) []float64 {
	t.Helper()
	norm := 0.0
	for _, v := range grad {
		norm += v * v
	}
	shrink := min(1, c.ClipNorm/math.Sqrt(norm))
	if norm == 0 {
		shrink = 1
	}
	r, err := rotation.New(c.Dim, c.Key)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, r.PaddedDim())
	if err := r.Forward(y, grad); err != nil {
		t.Fatal(err)
	}
	for i := range y { // unnormalised: √d' times C·Range/√d'
		y[i] = min(max(y[i]*shrink, -c.Range*c.ClipNorm), c.Range*c.ClipNorm)
	}
	out := make([]float64, c.Dim)
	if err := r.Inverse(out, y); err != nil {
		t.Fatal(err)
	}
	return out
}

// The mean squared error of whole rounds is the announced one, and no coordinate is
// biased: for both protocols, several levels, and more reports than clients. Rounding
// is bounded by its worst case, which is below a tenth of the noise here, so that
// the ratio is in [0.9, 1]. 12 coordinates in 60 rounds are 720 nearly normal errors
// whose mean square has a standard deviation of about 0.055; 0.35 is 6 of them.
// (3·12 means and 3 ratios.)
func TestGradientSumsAreUnbiased(t *testing.T) {
	rounds := 60
	if !*long {
		rounds = 20
	}
	for name, c := range map[string]struct {
		base   Protocol
		levels int64
		extra  int
	}{"gkmps": {GKMPS, 1, 0}, "bbgn": {BBGN, 1, 0}, "bbgn, 3 levels, more reports": {BBGN, 3, 40}} {
		config := goodGradients
		config.Clients, config.Epsilon = 40, 2
		config.Base, config.Levels, config.Calibration, config.Key = c.base, c.levels, CalibrationTight, [32]byte{5}
		g := newGradients(t, config)
		reports := config.Clients + c.extra
		want, total, square := make([]float64, config.Dim), make([]float64, config.Dim), 0.0
		grads := make([][]float64, reports)
		rng := newRand(61)
		for i := range grads {
			grads[i] = make([]float64, config.Dim)
			for k := range grads[i] {
				grads[i][k] = float64(i%3) * (math.Sin(float64(k)) + rng.NormFloat64()/2) / 2 // a third 0, some above the clip norm
			}
			for k, v := range clipped(t, config, grads[i]) {
				want[k] += v
			}
		}
		var stdErr float64
		for range rounds {
			sums := g.NewSums()
			for _, grad := range grads {
				addGradient(t, g, sums, grad, rng)
			}
			e, err := g.Analyze(sums, int64(reports))
			if err != nil {
				t.Fatal(err)
			}
			stdErr = e.StdErr
			for k, v := range e.Value {
				total[k] += (v - want[k]) / float64(rounds)
				square += (v - want[k]) * (v - want[k]) / float64(rounds*config.Dim)
			}
			if e.Kept != 1 {
				t.Errorf("%s: kept %g", name, e.Kept)
			}
		}
		for k, v := range total {
			if z := v / stdErr * math.Sqrt(float64(rounds)); math.Abs(z) > deviations {
				t.Errorf("%s: coordinate %d is off by %g, %.1f standard errors", name, k, v, z)
			}
		}
		ratio, slack := square/(stdErr*stdErr), 0.35*math.Sqrt(60/float64(rounds))
		if ratio > 1+slack || ratio < 0.9-slack {
			t.Errorf("%s: mean squared error is %.3f of the announced", name, ratio)
		}
		t.Logf("%s: mean squared error %.3f of the announced", name, ratio)
	}
}

// The standard error by hand: two one-sided sums per rotated coordinate, rounding,
// and proportionally more noise for more reports.
func TestGradientStandardError(t *testing.T) {
	c := goodGradients
	c.Base, c.Levels = BBGN, 2
	g := newGradients(t, c)
	noise := 2 * (g.groups[0].sum.variance() + g.groups[1].sum.variance())
	unit := 2 * 2. / 2
	for reports, extra := range map[int64]float64{100: 1, 200: 1, 500: 2.5} {
		e, err := g.Analyze(g.NewSums(), reports)
		if err != nil {
			t.Fatal(err)
		}
		if want := unit * math.Sqrt((noise*extra+float64(reports)/4)/16); math.Abs(e.StdErr-want) > 1e-12*want {
			t.Errorf("%d reports: standard error %g, want %g", reports, e.StdErr, want)
		}
	}
}

// With Threshold, empty sums give exactly 0 at no more than rounding's error, and
// coordinates that stand out are kept. (Noise counts with probability β = 1e-9.)
func TestThresholdKeepsWhatStandsOut(t *testing.T) {
	c := goodGradients
	c.Threshold, c.Beta, c.Base, c.Epsilon, c.Key = true, 1e-9, BBGN, 20, [32]byte{6}
	g := newGradients(t, c)
	rng := newRand(62)
	zero, all := g.NewSums(), g.NewSums()
	for range c.Clients {
		addGradient(t, g, zero, make([]float64, c.Dim), rng)
		addGradient(t, g, all, slices.Repeat([]float64{0.2}, c.Dim), rng)
	}
	e, err := g.Analyze(zero, int64(c.Clients))
	if err != nil {
		t.Fatal(err)
	}
	if want := 4 * math.Sqrt(200./4/16); e.Kept != 0 || e.Value[3] != 0 || math.Abs(e.StdErr-want) > 1e-12 {
		t.Errorf("zeros give %+v, want standard error %g", e, want)
	}
	if e, err = g.Analyze(all, int64(c.Clients)); err != nil {
		t.Fatal(err)
	}
	if e.Kept == 0 || e.Kept > 0.5 {
		t.Errorf("kept %g", e.Kept)
	}
}

func TestGradientSumRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		mutate func(*GradientConfig)
		param  string
	}{
		"clip 0":         {func(c *GradientConfig) { c.ClipNorm = 0 }, "clip_norm"},
		"NaN clip":       {func(c *GradientConfig) { c.ClipNorm = math.NaN() }, "clip_norm"},
		"infinite clip":  {func(c *GradientConfig) { c.ClipNorm = math.Inf(1) }, "clip_norm"},
		"least clip":     {func(c *GradientConfig) { c.ClipNorm = math.SmallestNonzeroFloat64 }, "clip_norm"},
		"tiny unit":      {func(c *GradientConfig) { c.ClipNorm, c.Levels = 1e-305, 1<<20 }, "clip_norm"},
		"largest clip":   {func(c *GradientConfig) { c.ClipNorm = math.MaxFloat64 }, "clip_norm"},
		"range 0":        {func(c *GradientConfig) { c.Range = 0 }, "range"},
		"NaN range":      {func(c *GradientConfig) { c.Range = math.NaN() }, "range"},
		"infinite range": {func(c *GradientConfig) { c.Range = math.Inf(1) }, "range"},
		"levels 0":       {func(c *GradientConfig) { c.Levels = 0 }, "levels"},
		"many levels":    {func(c *GradientConfig) { c.Levels = 1<<20 + 1 }, "levels"},
		"dim 0":          {func(c *GradientConfig) { c.Dim = 0 }, "dim"},
		"beta 0":         {func(c *GradientConfig) { c.Beta = 0 }, "beta"},
		"epsilon":        {func(c *GradientConfig) { c.Epsilon = math.Inf(1) }, "epsilon"},
		"relation":       {func(c *GradientConfig) { c.Relation = 0 }, "relation"},
	} {
		config := goodGradients
		c.mutate(&config)
		if _, err := NewGradientSum(config); !isParam(err, c.param) {
			t.Errorf("%s: error %v, want a ParamError for %s", what, err, c.param)
		}
	}
	g := newGradients(t, goodGradients)
	rng := newRand(63)
	for what, grad := range map[string][]float64{
		"short": make([]float64, 11), "long": make([]float64, 13), "NaN": {11: math.NaN()}, "infinite": {11: math.Inf(-1)},
	} {
		if _, err := g.Encode(grad, rng); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	for _, grad := range [][]float64{make([]float64, 12), {math.MaxFloat64 / 4, 11: 1}, {math.SmallestNonzeroFloat64, 11: 0},
		{math.MaxFloat64, math.MaxFloat64, 11: 0}, {math.MaxFloat64 / 2, 11: math.MaxFloat64},
	} {
		if _, err := g.Encode(grad, rng); err != nil {
			t.Errorf("%v: %v", grad, err)
		}
	}
	if _, err := g.Analyze(newGradients(t, goodGradients).NewSums(), 10); !isParam(err, "sums") {
		t.Errorf("foreign sums: error %v", err)
	}
}

// At the smallest and largest clip norm gradients are still summed. (16 values within
// 7 standard errors.)
func TestExtremeClipNorms(t *testing.T) {
	for _, clip := range []float64{1e-300, 1e300} {
		c := goodGradients
		c.ClipNorm, c.Base = clip, BBGN
		g := newGradients(t, c)
		rng := newRand(64)
		grad := []float64{3: clip / 2, 11: 0}
		sums := g.NewSums()
		for range c.Clients {
			addGradient(t, g, sums, grad, rng)
		}
		e, err := g.Analyze(sums, int64(c.Clients))
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{3: 100 * clip, 11: 0}
		for i, v := range e.Value {
			if !(math.Abs(v-want[i]) < 7*e.StdErr) || !(e.StdErr < 100*clip) {
				t.Errorf("clip norm %g: coordinate %d is %g ± %g, want %g", clip, i, v, e.StdErr, want[i])
			}
		}
	}
}

// A gradient of a hundred times the clip norm counts as one of the clip norm. (12
// values within 7 standard errors.)
func TestLongGradientsAreClipped(t *testing.T) {
	c := goodGradients
	c.Base, c.Epsilon, c.Range = BBGN, 20, 20
	g := newGradients(t, c)
	rng := newRand(65)
	sums := g.NewSums()
	for range c.Clients {
		addGradient(t, g, sums, []float64{5: 120, 11: -160}, rng)
	}
	e, err := g.Analyze(sums, int64(c.Clients))
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{5: 200 * 1.2, 11: -200 * 1.6}
	for i, v := range e.Value {
		if math.Abs(v-want[i]) > 7*e.StdErr || e.StdErr > 200 {
			t.Errorf("coordinate %d: %g ± %g, want %g", i, v, e.StdErr, want[i])
		}
	}
}
