package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/trainer"
)

const (
	side    = 28
	classes = 10
	dim     = side*side*classes + classes
)

// Softmax regression on generated digits is trained for a few seconds.
const (
	pictures = 6000
	steps    = 400
	batch    = 100
	rate     = 0.5
)

// pretrained returns the weights of a model that has seen public pictures only, as WriteWeights
// writes them.
func pretrained(ctx context.Context) (_ []byte, err error) {
	data, err := dataset.Generate(ctx, dataset.Options{TrainSize: pictures, TestSize: 1})
	if err != nil {
		return nil, err
	}
	model, err := trainer.NewSoftmax(trainer.Input{Channels: 1, Height: side, Width: side}, classes)
	if err != nil {
		return nil, err
	}
	worker, err := model.NewWorker(batch)
	if err != nil {
		return nil, err
	}
	defer worker.Close()
	params, grad := model.Init(nil), make([]float64, dim)
	images := data.Train.All()
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		first := step * batch % pictures
		if _, err := worker.Gradient(grad, params, images[first:first+batch], data.Train.Labels[first:first+batch]); err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		for i, g := range grad {
			params[i] -= rate * g
		}
	}
	var weights bytes.Buffer
	err = trainer.WriteWeights(&weights, model, params)
	return weights.Bytes(), err
}
