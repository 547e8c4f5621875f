package dataset_test

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
)

// Generated digits need no file and no network. Averaging blocks of 2×2 pixels leaves a
// quarter of the inputs for a model to learn from.
func ExampleGenerate() {
	data, err := dataset.Generate(context.Background(), dataset.Options{TrainSize: 100, TestSize: 20, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(data.Note)
	small, err := data.Train.Pool(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Len(), "images of", small.Rows, "by", small.Cols)
	// Output:
	// digits drawn from the Go fonts with seed 1: accuracy on them is not comparable with MNIST
	// 100 images of 14 by 14
}
