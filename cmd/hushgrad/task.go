package main

import (
	"cmp"
	"context"
	"fmt"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// task asks what is trained: softmax regression on features of pictures, or something with norms of its own.
type task struct {
	flags            *flag.FlagSet
	features, public string
	own              plan.Task
}

func bindTask(f *flag.FlagSet) *task {
	t := &task{flags: f}
	f.StringVar(&t.features, "features", plan.DemoFeatures, "what the model sees of a picture, as for examples/mnist; "+plan.AutoFeatures+": the best on public pictures")
	f.StringVar(&t.public, "public", "", "with -features "+plan.AutoFeatures+": comma-separated `list` of the public pictures that decide; empty: all that were measured")
	f.IntVar(&t.own.Dim, "dim", 0, "coordinates of a gradient, d, together with -l1 and -l2; 0: the coordinates of softmax regression on -features")
	f.Float64Var(&t.own.L1, "l1", 0, "L1 norm of a gradient at the first model, from public data; required with -dim; 0: the norm with -features")
	f.Float64Var(&t.own.L2, "l2", 0, "L2 norm of a gradient at the first model, from public data; required with -dim; 0: the norm with -features")
	f.BoolVar(&t.own.Centred, "centred", false, "examples have one norm around a public centre; not given: no with -dim, and else as with -features")
	return t
}

// validate refuses a gradient of one's own that is not described whole: its error follows from its norms.
func (t *task) validate() error {
	switch {
	case t.own.Dim > 0 && t.own.L1 == 0:
		return fl.Invalid("-dim", t.own.Dim, "needs -l1 and -l2: the mean L1 and L2 norms of a gradient of this model, on public data. The norms with -features are of another model")
	case (t.own.L1 == 0) != (t.own.L2 == 0):
		return fl.Invalid("-l1 and -l2", fmt.Sprintf("%g and %g", t.own.L1, t.own.L2), "must be given together: both are norms of the same gradients")
	}
	return nil
}

// of returns the request for the task, and the choice of features where there was one.
func (t *task) of(ctx context.Context, q plan.Request) (plan.Request, *plan.Choice, error) {
	of, choice, err := t.measured(ctx, q)
	if err != nil {
		return q, nil, err
	}
	q = of.Of(q)
	q.Dim, q.L1, q.L2 = cmp.Or(t.own.Dim, q.Dim), cmp.Or(t.own.L1, q.L1), cmp.Or(t.own.L2, q.L2)
	if command.Given(t.flags, "centred") || t.own.Dim > 0 {
		q.Centred = t.own.Centred
	}
	return q, choice, nil
}

// measured returns the task of -features.
func (t *task) measured(ctx context.Context, q plan.Request) (plan.Task, *plan.Choice, error) {
	if t.features != plan.AutoFeatures {
		if t.public != "" {
			return plan.Task{}, nil, fl.Invalid("-public", t.public, "needs -features %s", plan.AutoFeatures)
		}
		of, err := plan.NewTask(t.features)
		return of, nil, err
	}
	kinds, err := plan.ParsePublic(t.public)
	if err != nil {
		return plan.Task{}, nil, err
	}
	choice, err := q.ChooseFeatures(ctx, kinds)
	if err != nil {
		return plan.Task{}, nil, err
	}
	return choice.Considered[0].Task, choice, nil
}
