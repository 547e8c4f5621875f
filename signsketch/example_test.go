package signsketch_test

import (
	"fmt"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

// At ε = 0.5 one bit is better than a slot.
func Example() {
	p := sparse.Point{Dim: 7850, Sparsity: 64, Epsilon: 0.5}
	bit, err := signsketch.Scheme.LeastMSE(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	slot, err := coco.Scheme.LeastMSE(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("CoCo has %.2f times the squared error\n", slot/bit)
	// Output: CoCo has 1.55 times the squared error
}
