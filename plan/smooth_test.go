package plan_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/plan"
)

// smoothRequest is about logistic regression of 31 parameters.
func smoothRequest() plan.Request {
	return plan.Request{
		Mechanism: "coco", Trust: plan.Shuffler, Clients: 6000, Dim: 31, Budget: 1, Delta: 1e-6, L1: 12, L2: 2.8,
		Smooth: &plan.Smooth{Curvature: 31. / 4, Norm: 3, Loss: math.Ln2},
	}
}

// All rounds together move a model by its norm over the noise, as far as the momentum allows, and no learning rate is above the inverse
// curvature.
func TestStepsOfASmoothLoss(t *testing.T) {
	q := smoothRequest()
	for _, clients := range []int{600, 1500, 600_000} {
		q.Clients = clients
		q.Rounds, q.Force = 60, true
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		noise := run.Schedule.Considered[0].NoiseOfRun * math.Sqrt(31)
		all, want := run.LearningRate/(1-run.Momentum)*60, 3/noise
		limited := run.Momentum == 0.9 && math.Abs(run.LearningRate-4./31) < 1e-12 && all < want
		if run.LearningRate > 4./31+1e-12 || run.Momentum < 0.5 || run.Momentum > 0.9 || run.Averaging < run.Momentum || !limited && math.Abs(all/want-1) > 1e-9 {
			t.Errorf("%d clients: steps %+v move by %g, want %g", clients, run.Steps, all, want)
		}
		if limited != (clients == 600_000) {
			t.Errorf("%d clients: limited by the momentum: %v", clients, limited)
		}
	}
}

// A clip that leaves a tenth of a gradient takes a tenth of the curvature. Near the best model it may leave twice as much, so steps are five times as long. Where noise
// is large, what there is to gain limits them.
func TestStepsThroughAClip(t *testing.T) {
	s := plan.Smooth{Curvature: 8, Norm: 3, Loss: 0.5}
	for _, c := range []struct{ noise, slope, rate, all float64 }{
		{0, 1, 1. / 8, 0}, {0, 0.6, 1. / 8, 0}, {0, 0.1, 5. / 8, 0},
		{0.01, 0.1, 0, 300}, {0.02, 0.1, 0, 150}, {0.1, 0.1, 0, 10}, {1, 0.1, 0, 0.1}, {0.1, 1, 0, 30},
	} {
		got := s.Steps(c.noise, c.slope, 60)
		all := got.LearningRate / (1 - got.Momentum) * 60
		if c.rate > 0 && (math.Abs(got.LearningRate-c.rate) > 1e-12 || got.Momentum != 0.9) || c.all > 0 && math.Abs(all/c.all-1) > 1e-9 {
			t.Errorf("noise %g and slope %g: %+v move by %g, want a rate of %g and momentum 0.9 or to move by %g", c.noise, c.slope, got, all, c.rate, c.all)
		}
	}
}

// Two servers plan the same steps, by the noise of their sum.
func TestStepsOfASmoothLossWithTwoServers(t *testing.T) {
	q := smoothRequest()
	q.Mechanism, q.Trust = "auto", plan.TwoServers
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, ok := run.Opened.(interface {
		StandardError(vectors, reports int) float64
	})
	if !ok || run.Rounds != 30 || run.Cohort != 6000 {
		t.Fatalf("%d rounds of %d clients by %s, want 30 of all by a sum", run.Rounds, run.Cohort, run.Mechanism)
	}
	noise := sum.StandardError(6000, 6000) * math.Sqrt(31./30)
	all, want := run.LearningRate/(1-run.Momentum)*30, 3/noise
	if limited := run.Momentum == 0.9 && math.Abs(run.LearningRate-4./31) < 1e-12 && all < want; !limited && math.Abs(all/want-1) > 1e-9 {
		t.Errorf("steps %+v move by %g, want %g", run.Steps, all, want)
	}
}

// Momentum SGD with these steps and no noise ends within Norm²/4η of the least loss, whatever the second derivatives up to the curvature are.
func TestSmoothStepsReachTheBestModel(t *testing.T) {
	q := smoothRequest()
	q.Mechanism, q.Trust, q.Budget = "none", "", 0
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if run.Rounds != 240 || run.Cohort != 6000 {
		t.Errorf("%d rounds of %d clients, want 240 of all", run.Rounds, run.Cohort)
	}
	all := run.LearningRate / (1 - run.Momentum) * float64(run.Rounds)
	for h := 31. / 4; h > 1e-4; h /= 1.5 {
		model, speed, sum, weight := 0., 0., 0., 0.
		for range run.Rounds {
			speed = run.Momentum*speed - run.LearningRate*h*(model-3)
			model += speed
			sum, weight = run.Averaging*sum+model, run.Averaging*weight+1
		}
		if loss := h * (sum/weight - 3) * (sum/weight - 3) / 2; !(loss <= 9/(4*all)) {
			t.Errorf("second derivative %g: the loss is %g above the least, want at most %g", h, loss, 9/(4*all))
		}
	}
}

// A shuffler's rounds follow from the predicted loss: few where there is little noise and curvature, and many where steps are short. Clients that report
// once have 48 rounds.
func TestRoundsOfASmoothLossArePlanned(t *testing.T) {
	if !*plan.Long {
		t.Skip("takes a second: go test -long")
	}
	for _, c := range []struct {
		clients   int
		curvature float64
		trust     plan.Trust
		rounds    int
	}{
		{600_000, 0.2, plan.Shuffler, 30}, {6000, 31. / 4, plan.Shuffler, 120}, {6000, 31. / 4, plan.Nobody, 48}, {200, 31. / 4, plan.Nobody, 8},
	} {
		q := smoothRequest()
		q.Clients, q.Smooth.Curvature, q.Trust = c.clients, c.curvature, c.trust
		run, err := q.Run(t.Context())
		if err != nil || run.Rounds != c.rounds {
			t.Errorf("%+v: %+v, %v, want %d rounds", c, run, err, c.rounds)
		}
	}
	q := smoothRequest()
	q.Rounds = 7
	if run, err := q.Run(t.Context()); err != nil || run.Rounds != 7 {
		t.Errorf("7 rounds are asked for: %+v, %v", run, err)
	}
	for _, wrong := range []plan.Smooth{
		{Curvature: 0, Norm: 1, Loss: 1}, {Curvature: math.NaN(), Norm: 1, Loss: 1}, {Curvature: 1, Loss: 1}, {Curvature: 1, Norm: math.Inf(1), Loss: 1}, {Curvature: 1, Norm: 1}, {Curvature: 1, Norm: 1, Loss: math.NaN()},
	} {
		q.Smooth = &wrong
		if _, err := q.Run(t.Context()); err == nil {
			t.Errorf("%+v is no error", wrong)
		}
	}
}

// A run that comes near the best model takes the longest clip that leaves nearly as much signal. A short one would move the model at which it ends.
func TestConvergingRunsClipLittle(t *testing.T) {
	if !*plan.Long {
		t.Skip("takes a second: go test -long")
	}
	rng, gradients := rand.New(rand.NewPCG(5, 6)), make([][]float64, 2000)
	for i := range gradients { // of logistic regression on one column, at zero
		x, half := rng.NormFloat64(), 0.5
		if rng.Float64() < 1/(1+math.Exp(-x)) {
			half = -0.5
		}
		gradients[i] = []float64{half * x, half}
	}
	public, err := plan.NewSample(gradients)
	if err != nil {
		t.Fatal(err)
	}
	q := plan.Request{Mechanism: "auto", Dim: 2, Clients: 6000, Rounds: 30, Budget: 1, Delta: 1e-6, Public: public}
	for _, trust := range []plan.Trust{plan.Nobody, plan.Shuffler, plan.TwoServers} {
		q.Trust, q.Smooth, q.LearningRate = trust, nil, 1
		short, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q.Smooth, q.LearningRate = &plan.Smooth{Curvature: 0.5, Norm: 3, Loss: math.Ln2, Chances: true}, 0
		long, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := slopeOf(short), slopeOf(long); !(b > 0.8 && b > a+0.2) {
			t.Errorf("%s: the clip leaves %.2f of the mean gradient, and %.2f where the run converges", trust, a, b)
		}
		if s := long.Schedule; s != nil && *s.Considered[0].Loss > 1-0.98*(1-*short.Schedule.Considered[0].Loss) {
			t.Errorf("%s: a loss of %.3f, and %.3f with the clip of the least", trust, *s.Considered[0].Loss, *short.Schedule.Considered[0].Loss)
		}
	}
}

// slopeOf is the share of the mean gradient that a plan's clip leaves.
func slopeOf(run *plan.Run) float64 {
	if run.Schedule != nil {
		return *run.Schedule.Considered[0].Slope
	}
	return *run.Outlook.Slope
}
