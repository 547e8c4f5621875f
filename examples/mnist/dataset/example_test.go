package dataset_test

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
)

// A demo asks Load for what there is and tells its user what it got; here it
// wants generated digits, and averages blocks of 2×2 pixels to train a model
// with a quarter of the inputs.
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
	// digits drawn from the Go fonts with seed 1: as asked
	// 100 images of 14 by 14
}
