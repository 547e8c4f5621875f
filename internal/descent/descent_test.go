package descent

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// A descent that goes on from its state after every step ends at the same bits as one that never stopped, with
// every optimizer.
func TestADescentGoesOnFromItsState(t *testing.T) {
	for _, name := range OptimizerNames {
		c := Config{Optimizer: OptimizerConfig{Name: name, LearningRate: 0.3}, Averaging: 0.7}
		if name == "momentum" {
			c.Optimizer.Momentum = 0.6
		}
		rng, first := rand.New(rand.NewPCG(1, 2)), []float64{1, -2, 3}
		whole, err := New(c, first)
		if err != nil {
			t.Fatal(err)
		}
		stopped, err := New(c, first)
		for step := range 20 {
			if err != nil {
				t.Fatal(err)
			}
			if stopped, err = Resume(c, stopped.State()); err != nil || !slices.Equal(stopped.Average, whole.Average) {
				t.Fatalf("%s: %v, average %g after step %d, want %g", name, err, stopped.Average, step, whole.Average)
			}
			mean := []float64{rng.NormFloat64(), rng.NormFloat64(), 1e9}
			_, err = whole.Step(mean, nil, 2)
			_, failed := stopped.Step(mean, nil, 2)
			err = errors.Join(err, failed)
		}
		if !slices.Equal(whole.Params, stopped.Params) || !slices.Equal(whole.Average, stopped.Average) || whole.Params[0] == 1 || whole.Params[2] != 3 {
			t.Errorf("%s: ended at %g and %g, want %g and %g", name, stopped.Params, stopped.Average, whole.Params, whole.Average)
		}
	}
}

// A state of another descent is refused.
func TestResumeRefuses(t *testing.T) {
	c := Config{Optimizer: OptimizerConfig{Name: "momentum", LearningRate: 1}}
	for want, s := range map[string]State{
		"first moments: got 0":         {Params: []float64{1}, Sum: []float64{1}},
		"first moments[0]: got NaN":    {Params: []float64{1}, First: []float64{math.NaN()}, Sum: []float64{1}},
		"second moments: got 1":        {Params: []float64{1}, First: []float64{1}, Second: []float64{1}, Sum: []float64{1}},
		"sum: got 2":                   {Params: []float64{1}, First: []float64{1}, Sum: []float64{1, 2}},
		"params[0]: got +Inf":          {Params: []float64{math.Inf(1)}, First: []float64{1}, Sum: []float64{1}},
		"steps: got -1":                {Params: []float64{1}, First: []float64{1}, Sum: []float64{1}, Steps: -1},
		"weight: got NaN":              {Params: []float64{1}, First: []float64{1}, Sum: []float64{1}, Weight: math.NaN()},
		"dim: got 0, rule: must be in": {Params: []float64{}},
	} {
		_, err := Resume(c, s)
		if _, ours := errors.AsType[*fl.ParamError](err); !ours || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
