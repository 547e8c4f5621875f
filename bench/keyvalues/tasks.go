package keyvalues

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/sparse"
)

// grid is what the figures sweep over.
type grid struct {
	epsilons   []float64
	sparsities []int
	repeats    int
}

func newGrid(env experiment.Env) grid {
	if env.Quick {
		return grid{epsilons: []float64{0.1, 0.8, 2}, sparsities: []int{4, 16}, repeats: env.RepeatsOr(4)}
	}
	return grid{
		epsilons:   []float64{0.001, 0.01, 0.1, 0.2, 0.4, 0.8, 1, 1.5, 2},
		sparsities: []int{4, 8, 16, 32},
		repeats:    env.RepeatsOr(100),
	}
}

// shape is what a population is drawn by.
type shape struct{ clients, dim, sparsity int }

// task measures one mechanism at one ε on one population, by all the metrics that its
// setting has: figures that show different ones share it.
type task struct {
	shape
	contender int // index
	epsilon   float64
	setting
	repeats int
	values  []float64 // width() for each repeat
}

// key names the task in checkpoints.
func (t *task) key() string {
	label := contenders[t.contender].label
	if t.slots > 0 {
		label += fmt.Sprintf(" t=%d", t.slots)
	}
	return fmt.Sprintf("%s n=%d d=%d s=%d eps=%g", label, t.clients, t.dim, t.sparsity, t.epsilon)
}

// run measures all repeats, each with randomness of its own.
func (t *task) run(ctx context.Context, env experiment.Env, p *population) error {
	values, err := env.Checkpoint.Do(t.key(), func() ([]float64, error) {
		var all []float64
		for i := range t.repeats {
			rng := experiment.Stream(env.Seed, 61, uint64(t.contender), math.Float64bits(t.epsilon),
				uint64(t.sparsity), uint64(t.clients), uint64(t.dim), uint64(t.slots), uint64(i))
			metrics, err := contenders[t.contender].measure(ctx, p, t.epsilon, t.setting, rng)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.key(), err)
			}
			all = append(all, metrics...)
		}
		return all, nil
	})
	t.values = values
	return err
}

// cell is the mean error of one mechanism at one ε and one sparsity, by one metric.
type cell struct {
	contender, epsilon, sparsity int // indices
	mean                         experiment.Interval
	stderr                       float64
}

// summary returns the mean of a metric over the repeats and its standard error.
func (t *task) summary(metric int) (mean experiment.Interval, stderr float64) {
	var values []float64
	for i := t.column(metric); i < len(t.values); i += t.width() {
		values = append(values, t.values[i])
	}
	if len(values) > 1 {
		stderr = stat.StdErr(stat.StdDev(values, nil), float64(len(values)))
	}
	return experiment.MeanInterval(values), stderr
}

// study is tasks that are run once each, however many figures ask for them.
type study struct {
	grid
	shapes []shape // of the tasks, in order
	tasks  map[shape][]*task
}

// newStudy lists the tasks of figures.
func newStudy(g grid, shown []paperFigure) (*study, error) {
	st := &study{grid: g, tasks: map[shape][]*task{}}
	listed := map[string]bool{}
	for _, f := range shown {
		for _, s := range g.sparsities {
			at := shape{clients: f.clients, dim: f.dim, sparsity: s}
			tasks, err := f.tasks(g, at)
			if err != nil {
				return nil, err
			}
			for _, t := range tasks {
				if listed[t.key()] {
					continue
				}
				listed[t.key()] = true
				if st.tasks[at] == nil {
					st.shapes = append(st.shapes, at)
				}
				st.tasks[at] = append(st.tasks[at], t)
			}
		}
	}
	return st, nil
}

// tasks are those of one shape that measure the figure's metric.
func (f paperFigure) tasks(g grid, at shape) ([]*task, error) {
	var tasks []*task
	for i, c := range contenders {
		for _, e := range g.epsilons {
			settings, err := c.settings(sparse.Point{Dim: at.dim, Sparsity: at.sparsity, Epsilon: e, Hash: "gf2"})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.label, err)
			}
			for _, s := range settings {
				if s.has(f.metric) {
					tasks = append(tasks, &task{shape: at, contender: i, epsilon: e, setting: s, repeats: g.repeats})
				}
			}
		}
	}
	return tasks, nil
}

// run runs all tasks.
func (st *study) run(ctx context.Context, env experiment.Env) error {
	for _, at := range st.shapes {
		env.Progress.Grow(len(st.tasks[at]))
	}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for _, at := range st.shapes {
		if running.Err() != nil {
			break
		}
		p, err := newPopulation(at.clients, at.dim, at.sparsity, experiment.Stream(env.Seed, 6, uint64(at.clients), uint64(at.dim), uint64(at.sparsity)))
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		for _, t := range st.tasks[at] {
			group.Go(func() error {
				defer env.Progress.Step()
				return t.run(running, env, p)
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// cells are what the study found for a figure, by sparsity, mechanism and ε.
func (st *study) cells(f paperFigure) []*cell {
	var cells []*cell
	for i, s := range st.sparsities {
		for _, t := range st.tasks[shape{clients: f.clients, dim: f.dim, sparsity: s}] {
			if !t.has(f.metric) {
				continue
			}
			c := &cell{contender: t.contender, epsilon: slices.Index(st.epsilons, t.epsilon), sparsity: i}
			c.mean, c.stderr = t.summary(f.metric)
			cells = append(cells, c)
		}
	}
	// Tasks are in the order in which figures asked for them first.
	slices.SortFunc(cells, func(a, b *cell) int {
		return cmp.Or(cmp.Compare(a.sparsity, b.sparsity), cmp.Compare(a.contender, b.contender), cmp.Compare(a.epsilon, b.epsilon))
	})
	return cells
}
