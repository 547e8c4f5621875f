package training

import (
	"context"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// mostHidden keeps the memory of runs in bounds: on pictures of 784 pixels the network has 3 million weights.
const mostHidden = 4096

// network replaces the task's softmax regression by a network with hidden units. All runs begin at the same random weights. It
// returns what all methods share, and the largest learning rate. Both follow from gradients of generated digits at these weights, as
// in examples/mnist, and from no training picture.
func (s sites) network(ctx context.Context, seed uint64, t *task) (plan.Training, float64, error) {
	var err error
	if t.model, err = trainer.NewMLP(trainer.Input{Channels: 1, Height: t.train.Rows, Width: t.train.Cols}, t.train.Classes, s.hidden); err != nil {
		return plan.Training{}, 0, err
	}
	t.first = t.model.Init(experiment.Stream(seed, 97))
	public, err := dataset.NewPublic(ctx, dataset.Digits, 10, t.opened, dataset.ToPlan, nil)
	if err != nil {
		return plan.Training{}, 0, err
	}
	n := min(len(public.X), plan.SampleSize(t.model.Dim()))
	gradients, err := trainer.GradientSample(t.model, t.first, public.X[:n], public.Labels[:n])
	if err != nil {
		return plan.Training{}, 0, err
	}
	var r plan.Request
	if err := r.FillNetwork(gradients); err != nil {
		return plan.Training{}, 0, err
	}
	t.pictureL2 = r.L2
	return plan.Training{
		Dim: r.Dim, Clients: t.clients, Rounds: s.rounds, Delta: s.delta, L1: r.L1, L2: r.L2, Centred: public.Centred,
	}, r.MaxLearningRate, nil
}
