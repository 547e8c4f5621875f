package plan

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privunit"
)

// gradients are rows around a direction: mean + spread·noise in every coordinate, or rows with few coordinates.
func gradients(t *testing.T, n, dim int, mean, spread float64) *Sample {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, dim)
		for j := range rows[i] {
			rows[i][j] = mean + spread*rng.NormFloat64()
		}
	}
	s, err := NewSample(rows)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What a sample says of the mean of all gradients has no bias: rows are not counted against themselves. Tolerance: the
// squared norm of the mean of 400 rows of 50 coordinates has a standard error of
// 2·√50·0.1·0.5/√400 + 0.25·√(2·50)/400 < 0.042, and 5 of them are passed with a probability below 1e-6.
func TestSamplesKnowTheMeanOfAll(t *testing.T) {
	s := gradients(t, 400, 50, 0.1, 0.5)
	if want := 50 * 0.1 * 0.1; math.Abs(s.square-want) > 5*0.042 {
		t.Errorf("squared norm %g, want about %g", s.square, want)
	}
	all := *s.kept(wholeClip(1e9))
	if math.Abs(*s.slope(all)-1) > 1e-9 || s.loss(all, 0) > 1e-9 {
		t.Errorf("a clip that cuts nothing leaves %g and loses %g", *s.slope(all), s.loss(all, 0))
	}
	// A shorter clip of all rows keeps the direction, and noise in proportion costs as much.
	_, l2 := s.Norms()
	short := *s.kept(wholeClip(l2 / 10))
	if got := *s.slope(short); math.Abs(got-0.1) > 0.01 {
		t.Errorf("a tenth of the norm leaves %g", got)
	}
	if a, b := s.loss(all, 0.5), s.loss(short, 0.005); math.Abs(a-b) > 0.05 || !(a > 0.3 && a < 0.7) {
		t.Errorf("losses %g and %g, want about 1/2", a, b)
	}
	if got := short.ratio(short.square / 4); math.Abs(got-2) > 1e-9 {
		t.Errorf("signal to noise %g, want 2", got)
	}
}

// A sample without a mean has no slope, and a plan by it says so.
func TestASampleWithoutAMeanHasNoSlope(t *testing.T) {
	s, err := NewSample([][]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}})
	if err != nil {
		t.Fatal(err)
	}
	if slope := s.slope(*s.kept(wholeClip(1))); slope != nil {
		t.Errorf("slope %g", *slope)
	}
	q := Request{Mechanism: coco.Name, Trust: Nobody, Dim: 2, Clients: 1000, Rounds: 1, Delta: 1e-6, Public: s, Force: true}
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := run.Explain(&text); err != nil || strings.Contains(text.String(), "NaN") || !strings.Contains(strings.Join(strings.Fields(text.String()), " "), "no mean stands out") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// The clip of a sparse mechanism cuts coordinates at the scale, and then the L1 norm.
func TestSamplesAreClippedAsMechanismsClip(t *testing.T) {
	s, err := NewSample([][]float64{{3, -1, 0}, {3, -1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sparsity            int
		scale, first, other float64
	}{{3, 5, 3, -1}, {2, 1.5, 1.5, -1}, {1, 2, 4. / 3, -2. / 3}, {1, 1, 0.5, -0.5}} {
		k := *s.kept(ternaryClip(c.sparsity, c.scale))
		if want := c.first*3 - c.other; math.Abs(k.along-want) > 1e-12 || math.Abs(k.square-c.first*c.first-c.other*c.other) > 1e-12 {
			t.Errorf("s = %d, τ = %g: %+v, want the product %g", c.sparsity, c.scale, k, want)
		}
	}
}

func TestSamplesAreChecked(t *testing.T) {
	for name, rows := range map[string][][]float64{
		"one": {{1}}, "lengths": {{1, 2}, {1}}, "empty": {{}, {}}, "NaN": {{1}, {math.NaN()}}, "infinite": {{1}, {math.Inf(1)}}, "zero": {{0}, {0}},
	} {
		var bad *fl.ParamError
		if _, err := NewSample(rows); !errors.As(err, &bad) || bad.Param != "gradients" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Dense gradients are for privunit where ε is small, and gradients of a few large coordinates for coco. Each is
// cut less than the two norms would have it.
func TestPublicGradientsChooseTheMechanism(t *testing.T) {
	ask := func(public *Sample, dim int, budget float64) *Run {
		run, _ := decided(t, func(q *Request) {
			q.Trust, q.Public, q.Dim, q.Clients, q.Budget, q.Rounds = Nobody, public, dim, 20000, budget, 10
		})
		return run
	}
	if run := ask(gradients(t, 64, 400, 0.1, 0.1), 400, 2); run.Mechanism != privunit.Name || *run.Outlook.Slope > 1.05 || *run.Outlook.SignalToNoise < 1 {
		t.Errorf("dense gradients: %s, %+v", run.Mechanism, run.Outlook)
	}
	rows := make([][]float64, 64)
	for i := range rows {
		rows[i] = make([]float64, 400)
		rows[i][7], rows[i][9], rows[i][i] = 1, -1, rows[i][i]+0.01
	}
	sparse, err := NewSample(rows)
	if err != nil {
		t.Fatal(err)
	}
	if run := ask(sparse, 400, 6); run.Mechanism != coco.Name || run.Sparsity > 8 {
		t.Errorf("two coordinates: %s, s = %d", run.Mechanism, run.Sparsity)
	}
}
