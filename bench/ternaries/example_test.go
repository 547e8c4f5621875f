package ternaries_test

import (
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/bench/ternaries"
)

// What TopS does not send now, it sends later.
func ExampleTopS() {
	top, err := ternaries.NewTopS(4, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, gradient := range [][]float64{{1, 0.75, 0, 0}, {0, 0, 0, 0.25}} {
		x, err := top.Sample(gradient)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(x.Index, x.Sign)
	}
	fmt.Println(top.Memory())
	// Output:
	// [0] [1]
	// [1] [1]
	// [0 -0.25 0 0.25]
}
