package training

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// cell is one contender at one ε, on one kind of features.
type cell struct {
	contender
	task     *task
	demands  plan.Training
	epsilon  float64 // of the kind its role says; 0 without
	course   course
	outcomes []outcome // one per repeat
	seconds  float64   // of one run on one core, on average
	// What stands beside the accuracy: runs without privacy and with a trusted server, nil where
	// there is none, and the attack on linked reports, nil where it is not measured.
	plain, trusted *cell
	found          *experiment.Interval
}

// on sweeps over one data set.
func (s sweep) on(ctx context.Context, env experiment.Env, data *dataset.Data) (*experiment.Result, error) {
	if s.clients > data.Train.Len() {
		return nil, fl.Invalid("--clients", s.clients, "must be at most the number of training pictures, %d", data.Train.Len())
	}
	var cells []*cell
	for _, name := range s.features {
		t, err := newTask(ctx, env, data, name)
		if err != nil {
			return nil, err
		}
		t.clients, t.skew = cmp.Or(s.clients, t.clients), s.skew
		demands, err := s.demands(ctx, t)
		if err != nil {
			return nil, err
		}
		cells = append(cells, s.cells(t, demands)...)
	}
	if err := s.plan(ctx, env, cells); err != nil {
		return nil, err
	}
	beside := s.refer(cells)
	if err := s.plan(ctx, env, beside); err != nil {
		return nil, err
	}
	env.Progress.Describe("accuracy")
	env.Progress.Grow((len(cells) + len(beside)) * s.repeats)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for _, list := range [][]*cell{cells, beside} {
		for _, c := range list {
			group.Go(func() error { return s.measure(inner, env, c) })
		}
	}
	for _, c := range cells {
		if c.attackable() {
			group.Go(func() error { return c.attack(inner, env) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	anchors, err := s.anchorsFor(ctx, data)
	if err != nil {
		return nil, err
	}
	return s.report(cells, beside, anchors, data), nil
}

// cells are every contender at every ε of its kind, on one task.
func (s sweep) cells(t *task, demands plan.Training) []*cell {
	var cells []*cell
	for _, c := range s.contenders {
		epsilons := s.locals
		switch {
		case c.role == reference:
			epsilons = []float64{0}
		case c.role.central():
			epsilons = s.centrals
		}
		for _, epsilon := range epsilons {
			cells = append(cells, &cell{contender: c, task: t, demands: demands, epsilon: epsilon})
		}
	}
	return cells
}

// plan fills the courses of cells.
func (s sweep) plan(ctx context.Context, env experiment.Env, cells []*cell) error {
	env.Progress.Describe("planning")
	env.Progress.Grow(len(cells))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for _, c := range cells {
		group.Go(func() (err error) {
			defer env.Progress.Step()
			if c.course, err = c.contender.course(ctx, setting{
				Training: c.demands, epsilon: c.epsilon, pictureL2: c.task.pictureL2, model: c.task.model, server: s.server, sumdp: s.sumdp, dropout: s.dropout,
			}); err != nil {
				return fmt.Errorf("%s on %s at ε = %g: %w", c.name, c.task.features, c.epsilon, err)
			}
			c.course.centring = c.task.centring(c.course, c.shrunk && c.name != baseline.None)
			return nil
		})
	}
	return group.Wait()
}

// measure fills the outcomes of a cell. Repeats differ in the order of the clients and in all noise.
func (s sweep) measure(ctx context.Context, env experiment.Env, c *cell) error {
	c.outcomes = make([]outcome, s.repeats)
	name := uint64(crc32.ChecksumIEEE([]byte(c.name))) // a stream of its own, whatever else is in the sweep; the same on all features
	for k := range s.repeats {
		key := fmt.Sprintf("%s %s %g %d", c.task.features, c.name, c.epsilon, k)
		out, seconds, err := c.task.timed(ctx, env, key, c.course.recipe, experiment.Stream(env.Seed, 8, name, math.Float64bits(c.epsilon), uint64(k)))
		if err != nil {
			return err
		}
		c.outcomes[k] = out
		c.seconds += seconds / float64(s.repeats)
		env.Progress.Step()
	}
	return nil
}
