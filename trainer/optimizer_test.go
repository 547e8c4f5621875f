package trainer

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/internal/descent"
)

// Five steps of each optimizer against its recurrence, coordinate by
// coordinate, the last with a gradient that is zero everywhere.
func TestOptimizersFollowTheirRecurrence(t *testing.T) {
	gradients := [][]float64{{1, -2, 0.5}, {-3, 1, 0}, {0.25, 4, -1}, {1e-9, 7, 1e9}, {0, 0, 0}}
	const rate, mu = 0.1, 0.8
	var u, m, v float64 // the moments of the coordinate in turn
	for _, c := range []struct {
		config OptimizerConfig
		next   func(step int, x, g float64) float64
	}{
		{OptimizerConfig{Name: "sgd", LearningRate: rate}, func(_ int, x, g float64) float64 { return x - rate*g }},
		{OptimizerConfig{Name: "momentum", LearningRate: rate, Momentum: mu}, func(_ int, x, g float64) float64 {
			u = mu*u - rate*g
			return x + u
		}},
		{OptimizerConfig{Name: "momentum", LearningRate: rate}, func(_ int, x, g float64) float64 { return x - rate*g }},
		{OptimizerConfig{Name: "adam", LearningRate: rate}, func(step int, x, g float64) float64 {
			m = 0.9*m + 0.1*g
			v = 0.999*v + 0.001*g*g
			mean, square := m/(1-math.Pow(0.9, float64(step))), v/(1-math.Pow(0.999, float64(step)))
			return x - rate*mean/(math.Sqrt(square)+1e-8)
		}},
	} {
		for _, dim := range []int{1, 3} {
			o := must[*Optimizer](t)(NewOptimizer(c.config, dim))
			got := [][]float64{[]float64{1, -2, 3}[:dim]}
			for _, g := range gradients {
				p, given := slices.Clone(got[len(got)-1]), slices.Clone(g[:dim])
				if err := o.Step(p, given); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(given, g[:dim]) {
					t.Errorf("%v: the gradient was changed to %g", c.config, given)
				}
				got = append(got, p)
			}
			for i := range dim {
				u, m, v = 0, 0, 0
				want := got[0][i]
				for step, g := range gradients {
					want = c.next(step+1, want, g[i])
					if p := got[step+1][i]; math.Abs(p-want) > 1e-14*(1+math.Abs(want)) {
						t.Errorf("%v: coordinate %d of %d after step %d: got %.17g, want %.17g", c.config, i, dim, step+1, p, want)
					}
				}
			}
		}
	}
}

// A refused step changes neither the parameters nor the moments.
func TestStepErrors(t *testing.T) {
	for _, name := range descent.OptimizerNames {
		config := OptimizerConfig{Name: name, LearningRate: 0.5}
		if name == "momentum" {
			config.Momentum = 0.9
		}
		o := must[*Optimizer](t)(NewOptimizer(config, 3))
		twin := must[*Optimizer](t)(NewOptimizer(config, 3))
		p := []float64{1, 2, 3}
		for _, e := range []struct {
			params, gradient []float64
			want             string
		}{
			{p, []float64{1, math.NaN(), 1}, "trainer: gradient[1]: got NaN, rule: must be finite"},
			{p, []float64{1, 1, math.Inf(1)}, "trainer: gradient[2]: got +Inf"},
			{p, []float64{-1.5e50, 1, 1}, "trainer: gradient[0]: got -1.5e+50"},
			{p, []float64{1, 1}, "trainer: gradient: got 2, rule: must have 3 elements"},
			{p[:2], []float64{1, 1, 1}, "trainer: params: got 2, rule: must have 3 elements"},
			{[]float64{1, math.Inf(-1), 1}, []float64{1, 1, 1}, "trainer: params[1]: got -Inf"},
		} {
			refuses(t, o.Step(e.params, e.gradient), e.want)
			if !slices.Equal(p, []float64{1, 2, 3}) {
				t.Fatalf("%s: %s: params became %g", name, e.want, p)
			}
		}
		q := slices.Clone(p)
		for range 2 {
			if err := o.Step(p, []float64{1, -1, 2}); err != nil {
				t.Fatal(err)
			}
			if err := twin.Step(q, []float64{1, -1, 2}); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(p, q) {
			t.Errorf("%s: refused steps left a trace: %g, want %g", name, p, q)
		}
	}
}

// The largest admissible numbers stay finite, for as long as they are accepted.
func TestLargestSteps(t *testing.T) {
	for _, name := range descent.OptimizerNames {
		config := OptimizerConfig{Name: name, LearningRate: maxMagnitude}
		if name == "momentum" {
			config.Momentum = math.Nextafter(1, 0)
		}
		o := must[*Optimizer](t)(NewOptimizer(config, 2))
		for range 100 {
			p := []float64{-maxMagnitude, maxMagnitude}
			if err := o.Step(p, []float64{maxMagnitude, -maxMagnitude}); err != nil {
				t.Fatal(err)
			}
			if floats.HasNaN(p) || math.IsInf(p[0], 0) || math.IsInf(p[1], 0) {
				t.Fatalf("%s: got %g", name, p)
			}
		}
	}
}

func TestNewOptimizerErrors(t *testing.T) {
	for _, e := range []struct {
		config OptimizerConfig
		dim    int
		want   string
	}{
		{OptimizerConfig{"lion", 1, 0}, 3, `trainer: optimizer: got "lion", rule: must be one of adam, momentum, sgd`},
		{OptimizerConfig{"sgd", 0, 0}, 3, "trainer: learning rate: got 0, rule: must be > 0"},
		{OptimizerConfig{"sgd", math.NaN(), 0}, 3, "trainer: learning rate: got NaN"},
		{OptimizerConfig{"sgd", math.Inf(1), 0}, 3, "trainer: learning rate: got +Inf"},
		{OptimizerConfig{"momentum", 1, 1}, 3, "trainer: momentum: got 1, rule: must be in [0, 1)"},
		{OptimizerConfig{"momentum", 1, -0.1}, 3, "trainer: momentum: got -0.1"},
		{OptimizerConfig{"momentum", 1, math.NaN()}, 3, "trainer: momentum: got NaN"},
		{OptimizerConfig{"adam", 1, 0.9}, 3, `trainer: momentum: got 0.9, rule: must be 0 for the optimizer "adam"`},
		{OptimizerConfig{"sgd", 1, 0}, 0, "trainer: dim: got 0"},
		{OptimizerConfig{"sgd", 1, 0}, maxValues + 1, "trainer: dim: got 268435457"},
	} {
		o, err := NewOptimizer(e.config, e.dim)
		if refuses(t, err, e.want); o != nil {
			t.Errorf("%s: got an optimizer", e.want)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, name := range descent.OptimizerNames {
		b.Run(name, func(b *testing.B) {
			const dim = 7850
			o := must[*Optimizer](b)(NewOptimizer(OptimizerConfig{Name: name, LearningRate: 0.1}, dim))
			p, g := make([]float64, dim), slices.Repeat([]float64{0.5}, dim)
			b.ReportAllocs()
			for b.Loop() {
				if err := o.Step(p, g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
