package central_test

import (
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/bench/central"
)

// How accurate would a trusted server be? It releases the mean of 60 000 clients' gradients in 30 rounds, with
// ε = 1 for all rounds together. The error of a coordinate is in units of the norm to which gradients are clipped.
func ExampleNew() {
	const clients, rounds, clip = 60_000, 30, 1.0
	g, err := central.New(1, 1e-6, rounds, clip)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("noise on a sum: %.1f times the clip\n", g.Multiplier)
	fmt.Printf("error of a coordinate of the mean: %.5f\n", g.Multiplier*clip/clients)
	// Output:
	// noise on a sum: 46.3 times the clip
	// error of a coordinate of the mean: 0.00077
}
