package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/auto"
)

// The line between 0.9 ± 0.01 and 0.8 ± 0.02 of three repeats each. A single run is off by twice
// as much as their mean, and a point between is between both intervals.
func TestAccuracyIsReadBetweenMeasuredRuns(t *testing.T) {
	c := curve{Task: Task{Features: "edges"}, command: "the command", rows: []sample{
		{Noise: 0.01, Accuracy: 0.9, Low: 0.89, High: 0.91, Repeats: 3},
		{Noise: 0.04, Accuracy: 0.8, Low: 0.78, High: 0.82, Repeats: 3},
	}}
	for _, q := range []struct{ noise, accuracy, err float64 }{
		{0.01, 0.9, 0.02}, {0.04, 0.8, 0.04}, {0.02, 0.85, 0.09}, {0.04 * (1 + 1e-9), 0.8, 0.04}, {0.01 * (1 - 1e-9), 0.9, 0.02},
	} {
		e, ok := c.at(q.noise)
		if !ok || math.Abs(e.Accuracy-q.accuracy) > 1e-6 || math.Abs(e.Error-q.err) > 1e-6 || e.Command != "the command" || e.Features != "edges" {
			t.Errorf("noise %g: %+v, %v, want %g ± %g", q.noise, e, ok, q.accuracy, q.err)
		}
	}
	for _, outside := range []float64{0.0099, 0.0401, 0, math.NaN(), math.Inf(1)} {
		if e, ok := c.at(outside); ok {
			t.Errorf("noise %g: %+v, but nothing was measured there", outside, e)
		}
	}
	if text := (Expected{0.9, 0.0101, "edges", "x"}).String(); !strings.Contains(text, "0.900 ± 0.011") {
		t.Errorf("%s: the error is not rounded up", text)
	}
}

// Each file holds a curve: more noise, less accuracy but for chance, in runs that are alike. The pictures are
// public, and the demo's features are among those that were measured on digits.
func TestTheMeasuredCurvesAreOnes(t *testing.T) {
	curves, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	digits := map[string]Task{}
	for _, c := range curves {
		if len(c.rows) < 5 || !strings.HasPrefix(c.command, "go run ./bench accuracy ") || !strings.Contains(c.command, "-features "+c.Features+" ") {
			t.Fatalf("%s on %s: %d rows of %q", c.Features, c.public, len(c.rows), c.command)
		}
		if data := strings.Contains(c.command, "-data "+c.public+" "); data == (c.public == Digits) || strings.Contains(c.command, "-data") != data {
			t.Errorf("%s: %q", c.public, c.command)
		}
		for i, s := range c.rows {
			if s.Task != c.Task || s.Rounds != 30 || s.Participations != 30 || s.Clients != 60000 || s.Repeats < 3 || !(s.Low <= s.Accuracy && s.Accuracy <= s.High) {
				t.Errorf("%+v", s)
			}
			if i > 0 && (s.Noise <= c.rows[i-1].Noise || s.Low > c.rows[i-1].High) {
				t.Errorf("%+v follows %+v", s, c.rows[i-1])
			}
		}
		if c.public == Digits {
			digits[c.Features] = c.Task
		} else if digits[c.Features] != c.Task {
			t.Errorf("%s on %s: %+v, and %+v on digits", c.Features, c.public, c.Task, digits[c.Features])
		}
	}
	if _, ok := digits[DemoFeatures]; !ok {
		t.Errorf("%s was not measured", DemoFeatures)
	}
}

// Only a question like the measured ones has an answer.
func TestOnlyMeasuredQuestionsHaveAnAccuracy(t *testing.T) {
	demo, err := NewTask(DemoFeatures)
	if err != nil {
		t.Fatal(err)
	}
	asked := demo.Of(Request{Mechanism: auto.Name, Clients: 60000, Delta: 1e-6, Budget: 1})
	run, err := asked.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e := run.Expected; e == nil || e.Accuracy < 0.9 || e.Error <= 0 || e.Error > 0.1 {
		t.Fatalf("the demo: %+v", e)
	}
	for what, mutate := range map[string]func(*Request, *Run){
		"mechanism":  func(q *Request, _ *Run) { q.Mechanism = "coco" },
		"dimension":  func(q *Request, _ *Run) { q.Dim-- },
		"L1":         func(q *Request, _ *Run) { q.L1 *= 1.01 },
		"L2":         func(q *Request, _ *Run) { q.L2 *= 0.99 },
		"sparsity":   func(q *Request, _ *Run) { q.Sparsity = 73 },
		"clip":       func(q *Request, _ *Run) { q.Clip = 7 },
		"centre":     func(q *Request, _ *Run) { q.Centred = !q.Centred },
		"rate":       func(q *Request, _ *Run) { q.LearningRate = 20 },
		"limit":      func(q *Request, _ *Run) { q.MaxLearningRate = 2 },
		"clients":    func(q *Request, _ *Run) { q.Clients = 59999 },
		"cohort":     func(_ *Request, r *Run) { r.Cohort = 2000 },
		"rounds":     func(_ *Request, r *Run) { r.Rounds = 29 },
		"affordable": func(_ *Request, r *Run) { r.Affordable = 29 },
		"noise":      func(_ *Request, r *Run) { s := *r.Schedule; s.Noise *= 100; r.Schedule = &s },
		"schedule":   func(_ *Request, r *Run) { r.Schedule = nil },
	} {
		q, r := asked, *run
		mutate(&q, &r)
		if e, ok, err := r.expected(q); ok || err != nil {
			t.Errorf("another %s: %+v, %v, but nothing was measured", what, e, err)
		}
	}
	if e, ok, err := run.expected(asked); !ok || err != nil || e != *run.Expected {
		t.Errorf("the same question: %+v, %v, %v", e, ok, err)
	}
}
