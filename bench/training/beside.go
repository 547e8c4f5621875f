package training

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/bench/attack"
	"github.com/hushgrad/hushgrad/bench/experiment"
)

// refer gives every cell the runs that stand beside it, on the same features: without privacy, and of
// a trusted server at the same central ε. Cells of the sweep serve for them. Those that are not
// in the sweep are returned, none if no references are wanted.
func (s sweep) refer(cells []*cell) (more []*cell) {
	find := func(c *cell, name string, epsilon float64) *cell {
		for _, other := range slices.Concat(cells, more) {
			if other.task == c.task && other.name == name && other.epsilon == epsilon {
				return other
			}
		}
		if !s.references {
			return nil
		}
		i := slices.IndexFunc(contenders, func(k contender) bool { return k.name == name })
		more = append(more, &cell{contender: contenders[i], task: c.task, demands: c.demands, epsilon: epsilon})
		return more[len(more)-1]
	}
	for _, c := range cells {
		c.plain = find(c, baseline.None, 0)
		if epsilon := c.budget(); epsilon > 0 {
			c.trusted = find(c, trustedName, epsilon)
		}
	}
	return more
}

// budget is the central ε that a trusted server is compared at: the one that was asked for, else the
// one that the run comes to. 0 where there is none that a trusted server is given.
func (c *cell) budget() float64 {
	if c.role.central() {
		return c.epsilon
	}
	if c.course.central != nil && *c.course.central <= mostTrusted {
		return *c.course.central
	}
	return 0
}

// mostTrusted is the largest central ε at which a trusted server stands beside a run. Above it
// accuracy grows no more.
const mostTrusted = 10

// mean is the accuracy of a run, nil where there is none.
func (c *cell) mean() any {
	if c == nil {
		return nil
	}
	return c.accuracy().Value
}

// found returns the largest probability with which any party distinguishes two equally likely
// inputs under (ε, δ)-differential privacy, (e^ε+δ)/(e^ε+1), rounded up to four digits behind the
// point. A nil ε is no privacy: 1.
func found(epsilon *float64, delta float64) float64 {
	if epsilon == nil {
		return 1
	}
	return min(1, math.Ceil(1e4*(1/(1+math.Exp(-*epsilon))+delta/(1+math.Exp(*epsilon))))/1e4)
}

// attacks are what the party that receives the reports finds out at most: from one report, and from
// all of a client's together.
func (c course) attacks() (one, all float64) {
	return found(c.local, c.localDelta/float64(max(1, c.participations))), found(c.localOfAll(), c.localDelta)
}

// victims is the number of clients whose linked reports are attacked.
const victims = 300

// attackable reports whether the attack of package attack is made on a cell: on what the planner chose,
// where every client has one picture and so one label.
func (c *cell) attackable() bool { return c.role == planned && c.task.clients == c.task.train.Len() }

// attack measures how many labels a party finds that links all reports of a client.
func (c *cell) attack(ctx context.Context, env experiment.Env) error {
	alone := env
	alone.Jobs = 1 // cells are attacked at the same time
	values, err := env.Checkpoint.Do(fmt.Sprintf("%s %s %g attack", c.task.features, c.name, c.epsilon), func() ([]float64, error) {
		env.Progress.Grow(min(victims, c.task.train.Len()))
		i, err := attack.Target{
			Model: c.task.model, Params: c.task.model.Init(experiment.Stream(0)), Round: c.course.round,
			Public: c.task.test, Clients: c.task.train, Victims: min(victims, c.task.train.Len()), Reports: c.course.participations,
		}.Linked(ctx, alone)
		return []float64{i.Value, i.Low, i.High}, err
	})
	if err != nil {
		return fmt.Errorf("attack on %s: %w", c.task.features, err)
	}
	c.found = &experiment.Interval{Value: values[0], Low: values[1], High: values[2]}
	return nil
}

// besideColumns are the columns of what stands beside an accuracy, and beside their cells.
var besideColumns = []string{
	"public_pretraining", "zero_shot", "no_privacy", "trusted_gaussian", "attack_one_report", "attack_linked",
}

func (c *cell) beside() experiment.Row {
	one, all := c.course.attacks()
	return experiment.Row{c.task.pretraining, orNil(c.task.zeroShot), c.plain.mean(), c.trusted.mean(), one, all}
}

// besideNotes explain the columns.
func besideNotes(delta float64) []string {
	return []string{
		fmt.Sprintf("Beside each accuracy are others on the same features and test pictures. public_pretraining says what a network behind the features was trained on: glyphs are letters and digits of handwriting fonts. zero_shot is the accuracy of that network itself, without any client. no_privacy is the accuracy of training without noise. trusted_gaussian is the accuracy with Gaussian noise by a server that sees every gradient, at the same central ε and δ = %g; for mechanisms that are given a local ε, at the central ε of their row, up to %d.", delta, mostTrusted),
		"attack_one_report and attack_linked bound what the party that receives the reports can find out: whether a client holds this gradient or that one, both equally likely. It is right with at most this probability, from one report, or from all of the client's. It is (e^ε + δ)/(e^ε + 1) for its local (ε, δ), rounded up. It is 1 where that party reads the gradient: for none, central, sumdp, and for the two servers of gaussian-shares together.",
	}
}
