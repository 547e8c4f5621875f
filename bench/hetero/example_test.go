package hetero_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

// A trusted server averages 1000 numbers. One client in ten asks for much more privacy than the
// others. Equal weights would add the noise of the most careful client to everything.
func Example() {
	demands, values := make([]float64, 1000), make([]float64, 1000)
	for i := range demands {
		demands[i], values[i] = 2, 0.3
		if i%10 == 0 {
			demands[i] = 0.05
		}
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded because this is an example
	for _, scheme := range []struct {
		name  string
		weigh func([]float64) (hetero.Weights, error)
	}{{"uniform", hetero.Uniform}, {"saturating", hetero.Saturating}} {
		weights, err := scheme.weigh(demands)
		if err != nil {
			log.Fatal(err)
		}
		mean, err := hetero.NewMean(demands, weights)
		if err != nil {
			log.Fatal(err)
		}
		estimate, err := mean.Estimate(values, rng)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: careful clients weigh %.5f, others %.5f; mean %.3f ± %.3f\n", scheme.name, weights[0], weights[1], estimate, mean.StdDev())
	}
	// Output:
	// uniform: careful clients weigh 0.00100, others 0.00100; mean 0.302 ± 0.028
	// saturating: careful clients weigh 0.00006, others 0.00110; mean 0.302 ± 0.002
}
