package coco_test

import (
	"fmt"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/sparse"
)

// The accuracy of a round is known before it is opened. This one has 60 000 clients, and a
// gradient has 7850 coordinates.
func Example() {
	p := sparse.Point{Dim: 7850, Sparsity: 64, Epsilon: 5}
	var err error
	if p.Slots, err = coco.Scheme.BestSlots(p); err != nil {
		fmt.Println(err)
		return
	}
	mse, err := coco.Scheme.MSE(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	const clients = 60_000
	fmt.Printf("%d slots, squared error %.2f ternary units\n", p.Slots, mse/clients)
	// Output: 8192 slots, squared error 0.46 ternary units
}
