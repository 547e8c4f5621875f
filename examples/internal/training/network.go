package training

import (
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

const (
	// networkRate is a learning rate at which networks with hidden units still learn: unlike softmax regression's
	// loss, their loss is not convex.
	networkRate = 2
	// networkExamples are as many public examples as show the norms of gradients.
	networkExamples = 256
)

// FillNetwork tells a request about a network with hidden units what is public: gradients of public examples at the random first
// model. What it said about softmax regression is gone. More than 256 examples have no effect.
func FillNetwork(r *plan.Request, model *trainer.Model, first []float64, x [][]float64, labels []int) error {
	n := min(len(x), networkExamples)
	gradients, err := trainer.GradientSample(model, first, x[:n], labels[:n])
	if err != nil {
		return err
	}
	sample, err := plan.NewSample(gradients)
	if err != nil {
		return err
	}
	r.Dim, r.MaxLearningRate, r.First, r.ZeroShot, r.Examples = model.Dim(), networkRate, nil, 0, nil
	r.Public = sample
	r.L1, r.L2 = sample.Norms()
	return nil
}
