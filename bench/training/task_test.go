package training

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/central"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/plan"
)

func digits(t *testing.T, train, test int) *dataset.Data {
	t.Helper()
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: train, TestSize: test, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// planAll leaves all that the server does to the plan.
var planAll = server{momentum: -1, averaging: -1}

// Without privacy the loop learns, and most of it in a few rounds.
func TestTheLoopLearns(t *testing.T) {
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 1000, 300), dataset.Edges)
	if err != nil {
		t.Fatal(err)
	}
	c := contenders[0]
	course, err := c.course(t.Context(), setting{Training: plan.Training{
		Dim: task.model.Dim(), Clients: 1000, Rounds: 8, Delta: 1e-6, L1: 7, L2: 1.4,
	}, model: task.model, server: planAll})
	if err != nil {
		t.Fatal(err)
	}
	out, err := task.run(t.Context(), course.recipe, experiment.Stream(3))
	if err != nil || out.accuracy < 0.8 || out.bytes != float64(4*task.model.Dim()) {
		t.Errorf("outcome %+v, %v", out, err)
	}
}

// Features with a mean in common are learned by the first round's mean and the others around it. All means are exact here. Edges without a centre, or few
// rounds, have no such round.
func TestTheFirstRoundFindsTheMean(t *testing.T) {
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 1000, 300), dataset.EdgesCentred)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*dataset.Set{task.train, task.test} {
		for _, x := range s.All() { // like edges with a centre of other pictures
			plan.Around(slices.Repeat([]float64{0.8}, len(x)), x)
		}
	}
	c := contenders[0]
	course, err := c.course(t.Context(), setting{Training: plan.Training{
		Dim: task.model.Dim(), Clients: 1000, Rounds: 20, Delta: 1e-6, L1: 40, L2: 3.4, Centred: true,
	}, model: task.model, server: planAll})
	if err != nil {
		t.Fatal(err)
	}
	accuracy := func() float64 {
		out, err := task.run(t.Context(), course.recipe, experiment.Stream(3))
		if err != nil {
			t.Fatal(err)
		}
		return out.accuracy
	}
	before := slices.Clone(task.train.Images)
	plain := accuracy()
	course.centring = task.centring(course, false)
	if around := accuracy(); around < plain+0.2 || !slices.Equal(before, task.train.Images) { // seeded
		t.Errorf("accuracy %g around the mean, %g without it; or the task's pictures were moved", around, plain)
	}
	edges := *task
	if edges.opened, err = dataset.OpenFeatures(t.Context(), dataset.Edges, nil); err != nil {
		t.Fatal(err)
	}
	warm := *task
	warm.first = make([]float64, task.model.Dim())
	few := course
	few.rounds = plan.LeastCentred - 1
	if edges.centring(course, false) != nil || warm.centring(course, false) != nil || task.centring(few, false) != nil || task.centring(course, true) != nil {
		t.Error("a round about the mean where there is none")
	}
}

// The pictures of a skewed client are alike, so that its mean gradient is longer.
func TestSkewedClientsHaveLongerGradients(t *testing.T) {
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 1000, 300), dataset.Edges)
	if err != nil {
		t.Fatal(err)
	}
	task.clients = 100
	var mean []float64 // L2 norm of a client's gradient, at skew 0 and 0.05
	for _, task.skew = range []float64{0, 0.05} {
		clients, err := task.deal(experiment.Stream(3))
		if err != nil {
			t.Fatal(err)
		}
		g, err := clients.On(task.model, false)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		sum := 0.
		if err := g.Each(t.Context(), make([]float64, g.Dim()), 0, g.Len(), func(_ int, grad []float64) error {
			sum += floats.Norm(grad, 2) / float64(g.Len())
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		mean = append(mean, sum)
	}
	if mean[1] < 1.5*mean[0] { // seeded: 0.44 and 1.03
		t.Errorf("mean norms %g, want the second clearly longer", mean)
	}
}

// The model that is measured is the average: with a decay of nearly 1 the mean of all
// models, with 0 the last one.
func TestTheAverageIsMeasured(t *testing.T) {
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 400, 300), dataset.Edges)
	if err != nil {
		t.Fatal(err)
	}
	accuracy := func(averaging float64) float64 {
		r := recipe{
			rounds: 6, cohort: 400,
			open: func(clients holders, rng *rand.Rand) (rounds, error) {
				return newTrusted(&central.Gaussian{Clip: 1.4, Multiplier: 4}, task.model, clients, 400, 0, rng)
			},
			steps: func(float64) plan.Steps { return plan.Steps{LearningRate: 10, Averaging: averaging} },
		}
		out, err := task.run(t.Context(), r, experiment.Stream(3))
		if err != nil {
			t.Fatal(err)
		}
		return out.accuracy
	}
	if last, mean := accuracy(0), accuracy(0.999); last == mean {
		t.Errorf("the last model and the mean of all have the same accuracy, %g", last)
	}
}

// What is set instead of planned is what the server does: the rate is reported, and the
// last model differs from the average.
func TestTheServerCanBeSet(t *testing.T) {
	planned := plan.Steps{LearningRate: 3, Momentum: 0.5, Averaging: 0.8}
	if got := planAll.over(planned); got != planned {
		t.Errorf("nothing is set: %+v", got)
	}
	want := plan.Steps{LearningRate: 7, Momentum: 0, Averaging: 0.1}
	if got := (server{rate: 7, averaging: 0.1}).over(planned); got != want {
		t.Errorf("all is set: %+v, want %+v", got, want)
	}
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 300, 100), dataset.Edges)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []contender{contenders[0], contenders[1]} { // with a rate from the noise, and from the plan
		s := setting{
			Training: plan.Training{Dim: task.model.Dim(), Clients: 300, Rounds: 3, Delta: 1e-6, L1: 7, L2: 1.4},
			epsilon:  4, model: task.model, server: server{rate: 0.7, momentum: -1, averaging: -1},
		}
		course, err := c.course(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := task.run(t.Context(), course.recipe, experiment.Stream(3)); err != nil || out.rate != 0.7 {
			t.Errorf("%s: learning rate %g, want 0.7, %v", c.name, out.rate, err)
		}
	}
}

// Held-out pictures are the last sixth of the training set, and no others.
func TestHeldOut(t *testing.T) {
	data := digits(t, 60, 5)
	got := heldOut(data)
	if got.Train.Len() != 50 || got.Test.Len() != 10 || !slices.Equal(got.Test.Image(0), data.Train.Image(50)) ||
		!slices.Equal(got.Train.Image(49), data.Train.Image(49)) || got.Test.Labels[9] != data.Train.Labels[59] || data.Train.Len() != 60 {
		t.Errorf("%d and %d pictures", got.Train.Len(), got.Test.Len())
	}
}

// The steps are those for the features: with a public centre, larger ones without noise.
func TestStepsFollowTheFeatures(t *testing.T) {
	for name, centred := range map[string]bool{dataset.Edges: false, "edges-centred": true} {
		task, err := newTask(t.Context(), experiment.Env{}, digits(t, 20, 5), name)
		if err != nil {
			t.Fatal(err)
		}
		demands, err := sweep{rounds: 30, delta: 1e-6}.demands(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		for _, noise := range []float64{0, .01} {
			want := plan.Training{L2: demands.L2, Rounds: 30, Centred: centred}.Steps(noise)
			if got := (setting{Training: demands, server: planAll}).steps(noise); got != want {
				t.Errorf("%s, noise %g: %+v", name, noise, got)
			}
		}
	}
}
