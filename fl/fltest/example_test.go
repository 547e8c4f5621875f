package fltest_test

import (
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/sparse"
)

// Any registered mechanism is checked like this, in a test of its own package.
func ExampleMechanism() {
	round, _, err := fl.Complete(fl.Round{
		ID: "check", Mechanism: "coco", Dim: 20, Scale: 1, Epsilon: 3, MinReports: 10,
		Params: fl.Params{"sparsity": fl.Int(4)}, PublicSeed: [32]byte{1},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("faults:", fltest.Mechanism(round, fltest.Options{}))
	// Output: faults: <nil>
}

// CoCo's error is known exactly for gradients that are ternary vectors. Whole rounds
// have it, but not half of it.
func ExampleRounds() {
	round, _, err := fl.Complete(fl.Round{
		ID: "check", Mechanism: "coco", Dim: 8, Scale: 1, Epsilon: 3, MinReports: 10,
		Params: fl.Params{"sparsity": fl.Int(2)}, PublicSeed: [32]byte{1},
	})
	if err != nil {
		log.Fatal(err)
	}
	mse, err := coco.Scheme.LeastMSE(sparse.Point{Dim: 8, Sparsity: 2, Epsilon: 3})
	if err != nil {
		log.Fatal(err)
	}
	gradient := []float64{0, 1, 0, 0, -1, 0, 0, 0}
	for _, claim := range []float64{mse, mse / 2} {
		err := fltest.Rounds(round, fltest.Accuracy{Gradients: [][]float64{gradient}, Truth: gradient, MSE: claim})
		fmt.Println("accurate:", err == nil)
	}
	// Output:
	// accurate: true
	// accurate: false
}
