package collision_test

import (
	"fmt"

	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/sparse"
)

// The fast hash family has powers of two only, which costs a little accuracy.
func Example() {
	for _, hash := range []string{sparse.HashIdeal, sparse.HashGF2} {
		p := sparse.Point{Dim: 1000, Sparsity: 8, Epsilon: 1, Hash: hash}
		slots, err := collision.Scheme.BestSlots(p)
		if err != nil {
			fmt.Println(err)
			return
		}
		mse, err := collision.Scheme.LeastMSE(p)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d slots, squared error %.0f\n", hash, slots, mse)
	}
	// Output:
	// ideal: 39 slots, squared error 74807
	// gf2: 32 slots, squared error 75734
}
