package ternarize_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/ternarize"
)

// A gradient of six coordinates becomes two signs. Their mean over many draws, times the
// scale, is the gradient.
func ExampleSampler() {
	const scale, draws = 0.5, 100_000
	gradient := []float64{0.25, -0.1, 0, 0.4, 0, -0.05}
	sampler, err := ternarize.NewSampler(len(gradient), 2, scale)
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded because this is an example
	mean := make([]float64, len(gradient))
	for range draws {
		x, err := sampler.Sample(gradient, rng)
		if err != nil {
			log.Fatal(err)
		}
		for i, j := range x.Index {
			if int(j) < len(mean) { // beyond are dummies, which fill a short vector up
				mean[j] += scale * float64(x.Sign[i]) / draws
			}
		}
	}
	for _, v := range mean {
		fmt.Printf("%+.2f\n", v)
	}
	// Output:
	// +0.25
	// -0.10
	// +0.00
	// +0.40
	// +0.00
	// -0.05
}
