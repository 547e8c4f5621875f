package training

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// publicClients is the number of clients with generated digits from which norms are guessed, and
// mostDigits the largest number of their digits.
const (
	publicClients = 256
	mostDigits    = 60_000
)

// clientClip is the norm to which mean gradients of several pictures are clipped, as a share of their norm
// at the first model. They shrink as the model learns, and noise grows with the clip. For single
// pictures it is 1: those that the model gets wrong keep long gradients. Of 0.6, 0.4 and 0.2 the
// second is best for 6000 clients with ten generated digits each and centred edges.
const clientClip = 0.4

// demands returns what all contenders share. The norms are norms of clients that hold generated digits,
// which nobody wrote: each as many as a client of the task, and dealt out in the same way. Norms of
// clients with several digits are smaller by clientClip. demands also fills the task's pictureL2.
func (s sweep) demands(ctx context.Context, t *task) (plan.Training, error) {
	each := max(1, t.train.Len()/t.clients)
	digits, err := dataset.Generate(ctx, dataset.Options{TrainSize: min(publicClients*each, mostDigits), TestSize: 1, Seed: 1})
	if err != nil {
		return plan.Training{}, err
	}
	if digits, err = digits.In(ctx, t.opened, nil); err != nil {
		return plan.Training{}, err
	}
	x, labels := digits.Train.All(), digits.Train.Labels
	init := t.model.Init(experiment.Stream(1))
	l1, l2, err := trainer.GradientNorms(t.model, init, x[:min(publicClients, len(x))], labels[:min(publicClients, len(x))])
	if t.pictureL2 = l2; err == nil && each > 1 {
		public := task{train: digits.Train, clients: len(x) / each, skew: t.skew, model: t.model}
		l1, l2, err = public.norms(ctx, init)
		l1, l2 = l1*clientClip, l2*clientClip
	}
	return plan.Training{
		Dim: t.model.Dim(), Clients: t.clients, Rounds: s.rounds, Delta: s.delta, L1: l1, L2: l2,
		Centred: features.Centred(t.opened),
	}, err
}

// norms are the mean norms of the clients' gradients, as clients shrink them.
func (t task) norms(ctx context.Context, params []float64) (l1, l2 float64, err error) {
	clients, err := t.deal(experiment.Stream(2))
	if err != nil {
		return 0, 0, err
	}
	gradients, err := clients.On(t.model, true)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = gradients.Close() }() // nothing was written
	n := gradients.Len()
	err = gradients.Each(ctx, params, 0, n, func(_ int, grad []float64) error {
		l1 += floats.Norm(grad, 1) / float64(n)
		l2 += floats.Norm(grad, 2) / float64(n)
		return nil
	})
	return l1, l2, err
}
