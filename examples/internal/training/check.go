package training

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/trainer"
)

// Check are public examples, and what is compared with them.
type Check struct {
	Model  *trainer.Model
	X      [][]float64
	Labels []int
	Each   int  // examples of a client
	Steps  bool // none may make the model worse: see trainer.StepCheck
	Means  bool // they raise an alarm: see trainer.PublicAlarm
}

// Fit has the rounds of a run take the hash "ideal" where means are compared, with which reports can be foreseen, and refuses mechanisms that have none.
func (c *Check) Fit(run *plan.Run) error {
	if !c.Means {
		return nil
	}
	r := run.Template
	if r.Params.Has(sparse.ParamHash) {
		r.Params = maps.Clone(r.Params)
		r.Params[sparse.ParamHash] = fl.Text(sparse.HashIdeal)
	}
	template, opened, err := fl.Complete(r)
	if err != nil {
		return err
	}
	m, ok := opened.(fl.HitMechanism)
	if none := make([]float64, run.Dim); !ok || m.AddHits(slices.Clone(none), slices.Clone(none), none) != nil {
		return fl.Invalid("--public-alarm", true, "needs reports that can be foreseen, such as --mechanism coco has, not %s", run.Mechanism)
	}
	run.Template, run.Opened = template, opened
	return nil
}

// checks are what a Check does in a run. Their functions are nil where it does nothing.
type checks struct {
	better   func(before, after []float64) (bool, error)
	suspects func(ctx context.Context, params []float64, e *fl.Estimate) ([]int, error)
	closers  []func() error
}

// open makes what is asked for. A nil Check asks for nothing.
func (c *Check) open(run *plan.Run) (*checks, error) {
	o := &checks{}
	if c == nil {
		return o, nil
	}
	if c.Steps {
		check, err := trainer.NewStepCheck(c.Model, c.X, c.Labels)
		if err != nil {
			return nil, err
		}
		o.better, o.closers = check.Better, append(o.closers, check.Close)
	}
	if c.Means {
		clients, err := trainer.NewClients(c.X, c.Labels, len(c.X)/c.Each, rand.New(rand.NewPCG(1, 1))) // public ones
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		public, err := clients.On(c.Model, true) // mechanisms with such an alarm clip the L1 norm
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		o.closers = append(o.closers, public.Close)
		alarm, err := trainer.NewPublicAlarm(public, run.Round("public", [32]byte{1}), trainer.Likeness{})
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		o.suspects = alarm.Suspects
	}
	return o, nil
}

func (o *checks) close() (err error) {
	for _, c := range o.closers {
		err = errors.Join(err, c())
	}
	return err
}
