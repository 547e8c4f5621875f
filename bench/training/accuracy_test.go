package training

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/baseline/central"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
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

// Every contender trains, with what it promises beside it; the same whatever the number of
// jobs, and from a checkpoint.
func TestSweep(t *testing.T) {
	data := digits(t, 900, 200)
	s := sweep{rounds: 3, delta: 1e-6, locals: []float64{2}, centrals: []float64{2}, repeats: 2, contenders: contenders}
	path := filepath.Join(t.TempDir(), "checkpoint")
	var results []*experiment.Result
	for _, jobs := range []int{1, 2, 2} {
		env := experiment.Env{Seed: 5, Jobs: jobs}
		if len(results) > 0 {
			var err error
			if env.Checkpoint, err = experiment.OpenCheckpoint(path, "bench"); err != nil {
				t.Fatal(err)
			}
		}
		r, err := s.on(t.Context(), env, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Validate(), env.Checkpoint.Close(false)); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
		if testing.Short() {
			break
		}
	}
	seconds := slices.Index(results[0].Columns, "seconds")
	for _, r := range results {
		for i := range r.Rows {
			if took, ok := r.Rows[i][seconds].(float64); !ok || took <= 0 {
				t.Errorf("%v took %v", r.Rows[i], r.Rows[i][seconds])
			}
			r.Rows[i][seconds] = nil
		}
		if !reflect.DeepEqual(r.Rows, results[0].Rows) {
			t.Errorf("rows differ:\n%v\n%v", r.Rows, results[0].Rows)
		}
	}
	at := func(row experiment.Row, name string) any { return row[slices.Index(results[0].Columns, name)] }
	for i, c := range contenders {
		row := results[0].Rows[i]
		local, central := at(row, "epsilon_local"), at(row, "epsilon_central")
		switch c.role {
		case reference:
			if local != nil || central != nil {
				t.Errorf("%s promises %v and %v", c.name, local, central)
			}
		case ours, localBaseline:
			if got, ok := central.(float64); local != 2. || !ok || !(got > 0 && got <= 6+1e-6) {
				t.Errorf("%s promises %v and %v, want 2 and at most 6", c.name, local, central)
			}
		case shuffledSum, trustedServer:
			if local != nil || central != 2. {
				t.Errorf("%s promises %v and %v, want nothing and 2", c.name, local, central)
			}
		case planned:
			if got, ok := central.(float64); local == nil || !ok || got > 2 || got < 1.8 {
				t.Errorf("%s promises %v and %v, want a central ε of nearly 2", c.name, local, central)
			}
		}
		if row[0] != c.name || !(at(row, "accuracy").(float64) > 0.02) || !(at(row, "bytes_per_report").(float64) > 0) || !(at(row, "noise").(float64) > 0) {
			t.Errorf("row %v", row)
		}
	}
	var png bytes.Buffer
	if err := results[0].Plot.WritePNG(&png); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.on(ctx, experiment.Env{Jobs: 1}, data); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Without privacy the loop learns, and most of it in a few rounds.
func TestTheLoopLearns(t *testing.T) {
	task, err := newTask(digits(t, 1000, 300), edges)
	if err != nil {
		t.Fatal(err)
	}
	c := contenders[0]
	course, err := c.course(setting{Training: plan.Training{
		Dim: task.model.Dim(), Clients: 1000, Rounds: 8, Delta: 1e-6, L1: 7, L2: 1.4,
	}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := task.run(t.Context(), course.recipe, experiment.Stream(3))
	if err != nil || out.accuracy < 0.8 || out.bytes != float64(4*task.model.Dim()) {
		t.Errorf("outcome %+v, %v", out, err)
	}
	course.cohort = 1001
	var p *fl.ParamError
	if _, err := task.run(t.Context(), course.recipe, experiment.Stream(3)); !errors.As(err, &p) || p.Param != "clients" {
		t.Errorf("a cohort beyond the clients: %v", err)
	}
}

// Clients take part in turn, each as often as every other.
func TestTheOrderGoesRound(t *testing.T) {
	task, err := newTask(digits(t, 600, 10), edges)
	if err != nil {
		t.Fatal(err)
	}
	examples, err := task.model.NewExamples(batch)
	if err != nil {
		t.Fatal(err)
	}
	defer examples.Close()
	order := experiment.Stream(3).Perm(600)
	params := make([]float64, task.model.Dim()) // at the zero model all gradients are of one size
	for j, rng := 0, experiment.Stream(4); j < len(params); j++ {
		params[j] = rng.NormFloat64()
	}
	of := func(r recipe, first int) *tally {
		c := &tally{}
		if err := task.collect(t.Context(), c, examples, params, r, order, first); err != nil {
			t.Fatal(err)
		}
		if c.count != r.cohort || c.next != r.cohort || c.flushes != (r.cohort+batch-1)/batch {
			t.Errorf("from %d: %+v", first, c)
		}
		return c
	}
	all, later := of(recipe{cohort: 600}, 0), of(recipe{cohort: 600}, 500)
	if math.Abs(all.squares-later.squares) > 1e-9 || all.squares == 0 {
		t.Errorf("all clients from two starts give %g and %g", all.squares, later.squares)
	}
	first, second := of(recipe{cohort: 200}, 0), of(recipe{cohort: 400}, 200)
	if math.Abs(first.squares+second.squares-all.squares) > 1e-9 {
		t.Errorf("two parts give %g and %g, together not %g", first.squares, second.squares, all.squares)
	}
	if shrunk := of(recipe{cohort: 600, shrunk: true}, 0); shrunk.size >= all.size {
		t.Errorf("shrunk gradients have L1 norms of %g, others %g", shrunk.size, all.size)
	}
}

// The model that is measured is the average: with a decay of nearly 1 the mean of all
// models, with 0 the last one.
func TestTheAverageIsMeasured(t *testing.T) {
	task, err := newTask(digits(t, 400, 300), edges)
	if err != nil {
		t.Fatal(err)
	}
	accuracy := func(averaging float64) float64 {
		r := recipe{
			rounds: 6, cohort: 400,
			open: func(rng *rand.Rand) (collector, error) {
				return newTrusted(&central.Gaussian{Clip: 1.4, Multiplier: 4}, task.model.Dim(), rng), nil
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

// A trusted server clips what it adds up.
func TestTheTrustedServerClips(t *testing.T) {
	c := newTrusted(&central.Gaussian{Clip: 2, Multiplier: 1e-6}, 2, experiment.Stream(3))
	for _, grad := range [][]float64{{3, 4}, {0.5, 0}, {0, 0}} {
		if err := c.add(0, grad); err != nil {
			t.Fatal(err)
		}
	}
	e, err := c.estimate()
	if err != nil || math.Abs(e.Value[0]-(1.2+0.5)/3) > 1e-4 || math.Abs(e.Value[1]-1.6/3) > 1e-4 || c.sent() != 24 {
		t.Errorf("mean %v, %d bytes, %v", e.Value, c.sent(), err)
	}
}

// tally is a collector that counts.
type tally struct {
	count, next, flushes int
	squares, size        float64
}

func (c *tally) add(i int, grad []float64) error {
	if i == c.next {
		c.next++
	}
	c.count++
	for _, g := range grad {
		c.squares += g * g
		c.size += math.Abs(g)
	}
	return nil
}
func (c *tally) flush() error                 { c.flushes++; return nil }
func (c *tally) estimate() (fl.Series, error) { return fl.Series{}, nil }
func (c *tally) sent() int                    { return 0 }

// Held-out pictures are the last sixth of the training set, and no others.
func TestHeldOut(t *testing.T) {
	data := digits(t, 60, 5)
	got := heldOut(data)
	if got.Train.Len() != 50 || got.Test.Len() != 10 || !slices.Equal(got.Test.Image(0), data.Train.Image(50)) ||
		!slices.Equal(got.Train.Image(49), data.Train.Image(49)) || got.Test.Labels[9] != data.Train.Labels[59] || data.Train.Len() != 60 {
		t.Errorf("%d and %d pictures", got.Train.Len(), got.Test.Len())
	}
}

// outcomesOf are those of repeats with these accuracies.
func outcomesOf(accuracies ...float64) (out []outcome) {
	for _, a := range accuracies {
		out = append(out, outcome{accuracy: a})
	}
	return out
}

// The interval is Student's: for three values with deviation 0.01 the half width is
// 4.30265·0.01/√3.
func TestIntervals(t *testing.T) {
	c := &cell{outcomes: outcomesOf(0.49, 0.5, 0.51)}
	if a := c.accuracy(); math.Abs(a.mean-0.5) > 1e-12 || math.Abs(a.high-a.mean-4.302652729749464*0.01/math.Sqrt(3)) > 1e-9 || math.Abs(a.mean-a.low-(a.high-a.mean)) > 1e-12 {
		t.Errorf("%+v", a)
	}
	c.outcomes = outcomesOf(0.7)
	if a := c.accuracy(); a != (interval{0.7, 0.7, 0.7}) {
		t.Errorf("one repeat: %+v", a)
	}
}

// A baseline is above ours only beyond both error bars, and targets count only what was
// paid at most.
func TestVerdicts(t *testing.T) {
	local, cheap, dear := 2., 0.6, 0.61
	own := &cell{contender: contender{name: "coco", role: ours}, epsilon: 2, outcomes: outcomesOf(0.86, 0.87, 0.88), course: course{local: &local, central: &cheap, participations: 3}}
	plan := &cell{contender: contender{name: "auto", role: planned}, epsilon: 0.61, outcomes: outcomesOf(0.91, 0.92, 0.93), course: course{local: &local, central: &dear, participations: 3}}
	for name, c := range map[string]struct {
		baseline []outcome
		holds    bool
	}{
		"below": {outcomesOf(0.1, 0.2, 0.3), true}, "above, within the bars": {outcomesOf(0.87, 0.88, 0.89), true},
		"above the mean": {outcomesOf(0.884, 0.885, 0.886), true},
		"above":          {outcomesOf(0.95, 0.951, 0.952), false},
	} {
		other := &cell{contender: contender{name: "laplace", role: localBaseline}, epsilon: 2, outcomes: c.baseline}
		s := sweep{locals: []float64{1, 2}}
		if v := s.comparisons([]*cell{own, plan, other}); len(v) != 1 || v[0].Holds != c.holds {
			t.Errorf("%s: %+v", name, v)
		}
	}
	got := sweep{}.targets([]*cell{own, plan})
	if len(got) != 3 || !got[0].Holds || !got[1].Holds || !got[2].Holds {
		t.Errorf("targets %+v", got)
	}
	plan.outcomes = outcomesOf(0.89, 0.89, 0.89)
	if got = (sweep{}).targets([]*cell{own, plan}); !got[1].Holds || got[2].Holds {
		t.Errorf("targets %+v", got)
	}
	if got = (sweep{}).targets([]*cell{plan}); len(got) != 2 {
		t.Errorf("nothing within 0.6: %+v", got)
	}
}

func TestAccuracyFlags(t *testing.T) {
	for param, args := range map[string][]string{
		"-rounds": {"-rounds", "2"}, "-delta": {"-delta", "0"}, "-mechanisms": {"-mechanisms", "coco,magic"},
		"-local": {"-local", "1,x"}, "-central": {"-central", "0"},
	} {
		flags := flag.NewFlagSet("accuracy", flag.ContinueOnError)
		run := accuracyExperiment().Bind(flags)
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		var p *fl.ParamError
		if _, err := run(t.Context(), experiment.Env{Jobs: 1, Quick: true}); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v: error %v", args, err)
		}
	}
}

func TestLists(t *testing.T) {
	if c, err := parseContenders("coco, none"); err != nil || len(c) != 2 || c[0].name != "coco" || c[1].role != reference {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := parseContenders(""); err != nil || len(c) != len(contenders) {
		t.Errorf("%+v, %v", c, err)
	}
	if e, err := parseEpsilons("-local", "0.5, 20"); err != nil || !slices.Equal(e, []float64{0.5, 20}) {
		t.Errorf("%v, %v", e, err)
	}
	for _, bad := range []string{"NaN", "21", "-1", "1,", "Inf"} {
		if e, err := parseEpsilons("-local", bad); err == nil {
			t.Errorf("%q: %v", bad, e)
		}
	}
}
