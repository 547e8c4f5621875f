package rotation_test

import (
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/rotation"
)

// Two clients rotate their vectors with the same key. The server, which has the key too,
// gets their sum back from the sum of the rotated vectors.
func Example() {
	r, err := rotation.New(3, [32]byte{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	sum := make([]float64, r.PaddedDim())
	rotated := make([]float64, r.PaddedDim())
	for _, x := range [][]float64{{8, 0, 0}, {0, -2, 1}} {
		if err := r.Forward(rotated, x); err != nil {
			log.Fatal(err)
		}
		for i, v := range rotated {
			sum[i] += v
		}
	}
	total := make([]float64, r.Dim())
	if err := r.Inverse(total, sum); err != nil {
		log.Fatal(err)
	}
	fmt.Println(total)
	// Output: [8 -2 1]
}
