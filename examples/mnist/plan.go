package main

import (
	"context"

	"github.com/hushgrad/hushgrad/examples/internal/training"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// plan decides what the flags leave open, before any client takes part and from public numbers only: the size of
// the model, the numbers of clients and of their pictures, the budget, and the gradients of generated digits, which nobody
// wrote. It chooses and opens the features first.
func (o *options) plan(ctx context.Context, pictures int) (*trainer.Model, *plan.Run, error) {
	if q := o.request; q.Records > 0 { // every picture is a record
		if q.Clients > pictures {
			return nil, nil, fl.Invalid("--sites", q.Clients, "must be in [2, %d]: each site holds at least one picture", pictures)
		}
		q.Records = pictures / q.Clients * q.Clients
	}
	var err error
	if o.features, o.opened, o.choice, err = dataset.ChooseAndOpen(ctx, o.features, *o.request, o.public, o.classes, o.request.Progress); err != nil {
		return nil, nil, err
	}
	if _, picture := o.opened.(features.Picture); o.model == "cnn" && !picture {
		return nil, nil, fl.Invalid("--features", o.features, "must be a picture for --model %s, like %s", o.model, dataset.Grey)
	}
	public, err := dataset.NewPublic(ctx, o.public[0], o.classes, o.opened, dataset.ToRehearse, o.request.Progress)
	if err != nil {
		return nil, nil, err
	}
	model, err := trainer.NewModel(o.model, trainer.Input{Channels: 1, Height: public.Rows, Width: public.Cols}, o.classes)
	if err != nil {
		return nil, nil, err
	}
	r := *o.request
	r.Seed, r.PerClient = uint64(o.seed), max(1, pictures/r.Clients)
	public.Fill(&r)
	o.warm = public.First != nil
	if o.first = r.First; o.first == nil || o.model != softmax {
		o.first = model.Init(o.seed.Init())
	}
	if o.model != softmax {
		n := min(len(public.X), plan.SampleSize(model.Dim()))
		gradients, err := trainer.GradientSample(model, o.first, public.X[:n], public.Labels[:n])
		if err != nil {
			return nil, nil, err
		}
		if err := r.FillNetwork(gradients); err != nil {
			return nil, nil, err
		}
	}
	run, err := r.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	run.Template.Features, o.first = features.ID(o.features, o.opened), run.First(o.first)
	o.check = &training.Check{Model: model, X: public.X, Labels: public.Labels, Each: r.PerClient, Steps: o.CheckSteps, Means: o.PublicAlarm}
	o.bare = plan.Training{Rounds: run.Rounds, L2: r.L2, Centred: r.Centred}.Steps(0)
	if r.MaxLearningRate > 0 {
		o.bare.LearningRate = min(o.bare.LearningRate, r.MaxLearningRate)
	}
	return model, run, o.check.Fit(run)
}

const softmax, sites = "softmax", 12 // sites where their number is not given
