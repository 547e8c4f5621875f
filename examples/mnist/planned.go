package main

import (
	"context"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// transformed are both sets in the features that the model is trained on.
func (c config) transformed(data *dataset.Data) (*dataset.Data, error) {
	out := *data
	for _, set := range []**dataset.Set{&out.Train, &out.Test} {
		var err error
		if c.features == edges || c.features == "" && c.model != "cnn" {
			if *set, err = (*set).Edges(4); err == nil {
				*set = (*set).Unit()
			}
		} else {
			*set, err = (*set).Pool(c.pool)
		}
		if err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// modelOn is the model for pictures like those of a set.
func (c config) modelOn(s *dataset.Set) (trainer.Model, error) {
	return trainer.NewModel(c.model, trainer.Input{Channels: max(1, s.Channels), Height: s.Rows, Width: s.Cols}, s.Classes)
}

// pilots is the number of generated digits that tell the planner how large gradients are.
const pilots = 256

// planned fills what the flags left open, from public numbers: the size of the model, the
// number of clients, the budget, and the norms of gradients on generated digits, which
// nobody wrote. What the flags say stays, and the schedule is nil where nothing was asked
// of the planner.
func (c config) planned(ctx context.Context, model trainer.Model) (config, *plan.Schedule, error) {
	if c.mechanism == hdsum.Name {
		c.momentum, c.averaging = or(c.momentum, 0.5), or(c.averaging, 0.8)
		return c, nil, nil
	}
	if c.mechanism == dense.Name && c.cohort == 0 {
		c.cohort = max(2, c.clients/c.rounds) // dense gradients of all clients in every round would be gigabytes
	}
	drawn, err := dataset.Generate(ctx, dataset.Options{TrainSize: pilots, TestSize: 1, Seed: 1})
	if err != nil {
		return c, nil, err
	}
	if drawn, err = c.transformed(drawn); err != nil {
		return c, nil, err
	}
	x := make([][]float64, pilots)
	for i := range x {
		x[i] = drawn.Train.Image(i)
	}
	l1, l2, err := trainer.GradientNorms(model, model.Init(c.stream(forInit, 0)), x, drawn.Train.Labels)
	if err != nil {
		return c, nil, err
	}
	if c.mechanism == dense.Name {
		c.clip, c.sparsity = l1, 1 // not used
		c.step(plan.NewSteps(0, l2, c.rounds))
		return c, nil, nil
	}
	t := plan.Training{
		Dim: model.Dim(), Clients: c.clients, Rounds: c.rounds, Epsilon: c.budget, Delta: c.delta, EpsilonLocal: c.epsilon,
		Sparsity: c.sparsity, L1: l1, L2: l2,
	}
	if c.mechanism != auto.Name {
		t.Mechanism = c.mechanism
	}
	if c.epsilon > 0 {
		t.Epsilon = 0 // the budget ends the run
	}
	if c.clip > 0 {
		t.L1, t.L2 = c.clip, c.clip/l1*l2
	}
	if c.cohort > 0 {
		t.Participations = min(c.rounds, c.participations(c.rounds))
	}
	if len(c.menu) > 0 { // each client once: central ε are not composed
		t.EpsilonLocal, t.Participations = c.menu[len(c.menu)-1].epsilon, 1
	}
	s, err := t.Schedule()
	if err != nil {
		return c, nil, err
	}
	c.mechanism, c.sparsity, c.clip = s.Mechanism, s.Sparsity, s.Scale*float64(s.Sparsity)
	if len(c.menu) == 0 {
		c.epsilon = s.EpsilonLocal
	}
	if c.cohort == 0 {
		c.cohort = s.Cohort
	}
	c.step(s.Steps)
	return c, s, nil
}

// networkRate is a learning rate at which networks with hidden units still learn: unlike
// that of softmax regression, their loss is not convex.
const networkRate = 2

// step fills what the server does between rounds.
func (c *config) step(s plan.Steps) {
	if c.lr == 0 {
		c.lr = s.LearningRate
		if c.model != "softmax" {
			c.lr = min(c.lr, networkRate)
		}
	}
	c.momentum, c.averaging = or(c.momentum, s.Momentum), or(c.averaging, s.Averaging)
}

// or is the planned value where the flag left it open.
func or(flag, planned float64) float64 {
	if flag < 0 {
		return planned
	}
	return flag
}
