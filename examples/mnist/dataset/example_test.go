package dataset_test

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
)

// Generated digits need no file and no network. A model learns better on features of them.
func ExampleGenerate() {
	data, err := dataset.Generate(context.Background(), dataset.Options{TrainSize: 100, TestSize: 20, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(data.Note)
	edges, err := dataset.OpenFeatures(context.Background(), dataset.Edges, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if data, err = data.In(context.Background(), edges, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(edges)
	fmt.Println(data.Train.Len(), "vectors of", data.Train.Dim(), "values")
	// Output:
	// digits drawn from the Go fonts with seed 1: accuracy on them is not comparable with MNIST
	// edges of 4×4 pixels, norm 1
	// 100 vectors of 196 values
}
