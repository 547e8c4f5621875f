package keyvalues

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// grid is what the figures sweep over.
type grid struct {
	epsilons   []float64
	sparsities []int
	repeats    int
}

func newGrid(env experiment.Env) grid {
	if env.Quick {
		return grid{epsilons: []float64{0.1, 0.8, 2}, sparsities: []int{4, 32}, repeats: env.RepeatsOr(3)}
	}
	return grid{
		epsilons:   []float64{0.001, 0.01, 0.1, 0.2, 0.4, 0.8, 1, 1.5, 2},
		sparsities: []int{4, 8, 16, 32},
		repeats:    env.RepeatsOr(100),
	}
}

// shape is what a population is drawn by.
type shape struct{ clients, dim, sparsity int }

// task is a contender at one ε with one setting, measured by what the figures ask for.
type task struct {
	contender, epsilon int // indices
	setting
}

// cell is what one contender is measured by at one ε in clients of one shape.
type cell struct {
	shape
	contender, epsilon int // indices
	by                 metric
}

// study is a set of simulations. All figures of clients of one shape use the same simulations.
type study struct {
	grid
	// contenders are the paper's, and after them the mechanisms of the flag --with.
	contenders []contender
	shapes     []shape
	tasks      map[shape][]task
	// logErrors has the natural logarithm of the error in every repeat.
	logErrors map[cell][]float64
}

// newStudy lists the tasks of figures.
func newStudy(g grid, shown []paperFigure, own []experiment.Own) (*study, error) {
	st := &study{grid: g, contenders: contenders[:], tasks: map[shape][]task{}, logErrors: map[cell][]float64{}}
	for _, o := range own {
		st.contenders = append(st.contenders[:len(st.contenders):len(st.contenders)], ofOwn(o))
	}
	asked := map[shape][]metric{}
	for _, f := range shown {
		for _, s := range g.sparsities {
			at := shape{f.clients, f.dim, s}
			if asked[at] == nil {
				st.shapes = append(st.shapes, at)
			}
			asked[at] = append(asked[at], f.by)
		}
	}
	for _, at := range st.shapes {
		for i, c := range st.contenders {
			for k, epsilon := range g.epsilons {
				settings, err := c.settings(at, epsilon)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", c.label, err)
				}
				for _, s := range settings {
					s.by = slices.DeleteFunc(slices.Clone(s.by), func(m metric) bool { return !slices.Contains(asked[at], m) })
					if len(s.by) > 0 {
						st.tasks[at] = append(st.tasks[at], task{i, k, s})
					}
				}
			}
		}
	}
	return st, nil
}

// run does all simulations.
func (st *study) run(ctx context.Context, env experiment.Env) error {
	env.Progress.Grow(len(st.shapes) * st.repeats)
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	results := make([][]float64, len(st.shapes)*st.repeats)
	for i := range results {
		if running.Err() != nil {
			break
		}
		group.Go(func() (err error) {
			defer env.Progress.Step()
			results[i], err = st.simulation(running, env, st.shapes[i/st.repeats], i%st.repeats)
			return err
		})
	}
	if err := errors.Join(group.Wait(), ctx.Err()); err != nil {
		return err
	}
	for i, values := range results {
		at := st.shapes[i/st.repeats]
		for _, t := range st.tasks[at] {
			for _, m := range t.by {
				c := cell{at, t.contender, t.epsilon, m}
				st.logErrors[c] = append(st.logErrors[c], values[0])
				values = values[1:]
			}
		}
	}
	return nil
}

// simulation draws clients of a shape and measures all tasks with them. Every task has randomness
// of its own, so that it does not depend on which others there are.
func (st *study) simulation(ctx context.Context, env experiment.Env, at shape, repeat int) ([]float64, error) {
	key := fmt.Sprintf("n=%d d=%d s=%d simulation %d", at.clients, at.dim, at.sparsity, repeat)
	return env.Checkpoint.Do(key, func() ([]float64, error) {
		named := []uint64{uint64(at.clients), uint64(at.dim), uint64(at.sparsity), uint64(repeat)}
		p := newPopulation(at.clients, at.dim, at.sparsity, experiment.Stream(env.Seed, append([]uint64{60}, named...)...))
		var values []float64
		for _, t := range st.tasks[at] {
			c, epsilon := &st.contenders[t.contender], st.epsilons[t.epsilon]
			rng := experiment.Stream(env.Seed, append([]uint64{61, uint64(t.contender), math.Float64bits(epsilon), uint64(t.slots())}, named...)...)
			e, err := c.run(ctx, c, p, epsilon, t.setting, rng)
			if err == nil {
				var errors []float64
				errors, err = p.logErrors(e, t.by)
				values = append(values, errors...)
			}
			if err != nil {
				return nil, fmt.Errorf("%s, ε = %g, %s: %w", c.label, epsilon, key, err)
			}
		}
		return values, nil
	})
}

// only is the study of one repeat.
func (st *study) only(repeat int) *study {
	one := &study{grid: st.grid, contenders: st.contenders, shapes: st.shapes, logErrors: map[cell][]float64{}}
	one.repeats = 1
	for at, values := range st.logErrors {
		one.logErrors[at] = values[repeat : repeat+1]
	}
	return one
}

// of are the values of a figure at one sparsity, by contender and ε; nil where there are none.
func (st *study) of(f paperFigure, sparsity, contender, epsilon int) []float64 {
	return st.logErrors[cell{shape{f.clients, f.dim, st.sparsities[sparsity]}, contender, epsilon, f.by}]
}
