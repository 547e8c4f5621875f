package plan

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

var training = Training{Dim: 500, Clients: 600, Rounds: 9, Epsilon: 1, Delta: 1e-6, L1: 6, L2: 1.4}

// The planner finds by itself that many reports of a small ε beat few of a large one, and
// its numbers are the numbers of the mechanism it names.
func TestSchedulesTakePartOften(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	s, err := training.Schedule(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Participations != 9 || s.Rounds != 9 || s.Cohort != 600 || s.EpsilonCentral > 1 || s.EpsilonCentral < 0.95 {
		t.Errorf("schedule %+v", s)
	}
	ways := map[int]bool{}
	for i, a := range s.Considered {
		ways[a.Participations] = true
		if i > 0 && a.NoiseOfRun < s.Considered[i-1].NoiseOfRun {
			t.Errorf("%d: %+v after %+v", i, a, s.Considered[i-1])
		}
		if want := a.Error * a.Scale / 3; math.Abs(a.NoiseOfRun-want) > 1e-12 {
			t.Errorf("%d: error of the run %g, want %g", i, a.NoiseOfRun, want)
		}
		if a.EpsilonCentral > 1 || a.Cohort != 600*a.Participations/9 {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if len(s.Considered) != 12 || !ways[1] || !ways[3] || !ways[9] {
		t.Errorf("%d ways: %v", len(s.Considered), ways)
	}
	if want := s.Error * s.Scale; math.Abs(s.Noise-want) > 1e-12*want || math.Abs(s.Scale*float64(s.Sparsity)-6) > 1e-12 {
		t.Errorf("noise %g, want %g; τ·s = %g, want 6", s.Noise, want, s.Scale*float64(s.Sparsity))
	}

	// The plan holds on the real mechanism.
	r, _, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: s.Mechanism, Dim: 500, Scale: s.Scale, Epsilon: s.EpsilonLocal, Relation: fl.ReplaceOne, MinReports: 1,
		PublicSeed: [32]byte{1}, Params: s.Params,
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	one, err := privacy.Reports(t.Context(), m, s.Cohort, privacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := one.Compose(s.Participations)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := all.Epsilon(t.Context(), 1e-6); err != nil || b.Upper > 1 {
		t.Errorf("composed central ε = %g, want at most 1, %v", b.Upper, err)
	}
}

func TestSchedulesKeepWhatIsGiven(t *testing.T) {
	d := training
	d.Epsilon, d.EpsilonLocal, d.Participations, d.Mechanism, d.Sparsity = 0, 2, 3, signsketch.Name, 20
	s, err := d.Schedule(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.EpsilonLocal != 2 || s.Participations != 3 || s.Mechanism != signsketch.Name || s.Sparsity != 20 || s.Scale != 0.3 || len(s.Considered) != 1 {
		t.Errorf("schedule %+v", s)
	}
	if slots, err := s.Params.Int(sparse.ParamSlots); err == nil {
		t.Errorf("%d slots, but a sign sketch has no such parameter", slots)
	}
	// A local limit below what the central budget allows is kept.
	d = training
	d.EpsilonLocal, d.Mechanism, d.Participations = 0.5, coco.Name, 9
	if s, err = d.Schedule(t.Context()); err != nil || s.EpsilonLocal != 0.5 || s.EpsilonCentral >= 1 {
		t.Errorf("schedule %+v, %v", s, err)
	}
	// Where the local limit is beyond it, the budget decides.
	d.EpsilonLocal = 20
	if s, err = d.Schedule(t.Context()); err != nil || s.EpsilonLocal >= 20 || s.EpsilonCentral > 1 {
		t.Errorf("schedule %+v, %v", s, err)
	}
}

// (L1/L2)² coordinates of size L2²/L1 each: τ is a fixed share of that size.
func TestShapeFollowsTheNorms(t *testing.T) {
	for _, n := range []struct{ l1, l2 float64 }{{6, 1.4}, {3, 3}, {100, 10}} {
		d := training
		d.L1, d.L2 = n.l1, n.l2
		s, scale := d.Shape()
		if want := peakShare * n.l2 * n.l2 / n.l1; scale > want || scale < want*float64(s-1)/float64(s)-1e-12 || math.Abs(scale*float64(s)-n.l1) > 1e-9 {
			t.Errorf("%+v: s = %d, τ = %g, want just below %g", n, s, scale, want)
		}
	}
	d := training
	d.L1 = 1e3
	if s, _ := d.Shape(); s != d.Dim {
		t.Errorf("s = %d, want dim", s)
	}
}

func TestTrainingsAreChecked(t *testing.T) {
	for param, mutate := range map[string]func(*Training){
		"rounds": func(d *Training) { d.Rounds = 0 }, "participations": func(d *Training) { d.Participations = 10 },
		"sparsity": func(d *Training) { d.Sparsity = 501 }, "mechanism": func(d *Training) { d.Mechanism = "none" },
		"epsilon": func(d *Training) { d.Epsilon = 0 }, "epsilon local": func(d *Training) { d.EpsilonLocal = math.NaN() },
		"l1": func(d *Training) { d.L1 = math.Inf(1) }, "l2": func(d *Training) { d.L2 = 7 },
		"delta": func(d *Training) { d.Delta = 0 }, "clients": func(d *Training) { d.Clients = 1 }, "dim": func(d *Training) { d.Dim = 0 },
	} {
		d := training
		mutate(&d)
		var p *fl.ParamError
		if _, err := d.Schedule(t.Context()); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: error %v", param, err)
		}
	}
}

// Signal and noise grow with the learning rate: it is in inverse proportion to the noise
// of a run until a limit, which depends on the size of the gradients alone.
func TestStepsFollowTheNoise(t *testing.T) {
	a, b := plainSteps.steps(0.02, 1.4, 30), plainSteps.steps(0.04, 1.4, 30)
	if math.Abs(a.LearningRate/b.LearningRate-2) > 1e-12 {
		t.Errorf("twice the noise: %+v and %+v", a, b)
	}
	if c := plainSteps.steps(0.02, 1.4, 120); math.Abs(a.LearningRate/c.LearningRate-2) > 1e-12 {
		t.Errorf("four times the rounds: %+v and %+v", a, c)
	}
	if c := plainSteps.steps(0.02, 2.8, 30); math.Abs(a.LearningRate/c.LearningRate-2) > 1e-12 {
		t.Errorf("twice the gradients: %+v and %+v", a, c)
	}
	quiet, silent := plainSteps.steps(1e-9, 1.4, 30), plainSteps.steps(0, 1.4, 30)
	if quiet != silent || math.IsInf(silent.LearningRate, 1) || silent.Momentum != a.Momentum || silent.Averaging != a.Averaging {
		t.Errorf("without noise: %+v and %+v", quiet, silent)
	}
	if big := plainSteps.steps(0, 2.8, 30); math.Abs(silent.LearningRate/big.LearningRate-4) > 1e-12 {
		t.Errorf("twice the gradients without noise: %+v and %+v", silent, big)
	}
	if !slices.IsSorted([]float64{b.LearningRate, a.LearningRate, silent.LearningRate}) {
		t.Errorf("rates %g, %g, %g", b.LearningRate, a.LearningRate, silent.LearningRate)
	}
}

// Features around a public centre have a smaller goal under noise and a larger limit without. Both rules give the same
// model whatever the unit of the features: with features c times as large, gradients and their
// noise are, and the rate is 1/c² of it.
func TestStepsOfCentredFeatures(t *testing.T) {
	if a, b := plainSteps.steps(0.02, 1.4, 30), centredSteps.steps(0.02, 1.4, 30); math.Abs(a.LearningRate/b.LearningRate-1.8) > 1e-12 {
		t.Errorf("under noise: %+v and %+v", a, b)
	}
	if a, b := plainSteps.steps(0, 1.4, 30), centredSteps.steps(0, 1.4, 30); b.LearningRate < 2*a.LearningRate || math.IsInf(b.LearningRate, 1) {
		t.Errorf("without noise: %+v and %+v", a, b)
	}
	const c = 1 / 0.3
	for _, noise := range []float64{0, 1e-3, 0.1} {
		for name, steps := range map[string]func(noise, l2 float64, rounds int) Steps{"plain": plainSteps.steps, "centred": centredSteps.steps} {
			if a, b := steps(noise, 1, 30), steps(c*noise, c, 30); math.Abs(a.LearningRate/b.LearningRate/(c*c)-1) > 1e-12 {
				t.Errorf("%s, noise %g: %+v and %+v", name, noise, a, b)
			}
		}
	}
	d := training
	d.Epsilon, d.EpsilonLocal, d.Centred, d.Mechanism = 0, 3, true, coco.Name
	s, err := d.Schedule(t.Context())
	if err != nil || s.Steps != centredSteps.steps(s.Noise, d.L2, d.Rounds) || s.Steps == plainSteps.steps(s.Noise, d.L2, d.Rounds) {
		t.Errorf("planned %+v, %v", s, err)
	}
	q := request
	q.Mechanism, q.Centred = baseline.None, true
	if run, err := q.Run(t.Context()); err != nil || run.Steps != centredSteps.steps(0, q.L2, q.Rounds) {
		t.Errorf("without privacy: %+v, %v", run, err)
	}
	q.Mechanism, q.Epsilon = coco.Name, 3
	var why strings.Builder
	if run, err := q.Run(t.Context()); err != nil || run.Explain(&why) != nil || !strings.Contains(strings.Join(strings.Fields(why.String()), " "), "noise 1, rate 640, momentum") {
		t.Errorf("%s, %v", why.String(), err)
	}
}

// MSE of the chosen point is the mechanism's: no other s is meant.
func TestTheErrorOfAScheduleIsExact(t *testing.T) {
	d := training
	d.Epsilon, d.EpsilonLocal, d.Mechanism = 0, 3, coco.Name
	s, err := d.Schedule(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mse, err := coco.Scheme.MSE(sparse.Point{Dim: 500, Sparsity: s.Sparsity, Epsilon: 3, Slots: s.Slots, Hash: "gf2"})
	if want := math.Sqrt(mse / 500 / float64(s.Cohort)); err != nil || math.Abs(s.Error-want) > 1e-12*want {
		t.Errorf("error %g, want %g, %v", s.Error, want, err)
	}
}
