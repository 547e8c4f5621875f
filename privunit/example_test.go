package privunit_test

import (
	"fmt"

	"github.com/hushgrad/hushgrad/privunit"
)

// The error that a round of 10 000 clients has in each of 650 coordinates, in units of the clipped norm.
func Example() {
	for _, epsilon := range []float64{1, 4} {
		p, err := privunit.Point{Dim: 650, Epsilon: epsilon}.Complete()
		if err != nil {
			fmt.Println(err)
			return
		}
		mse, err := p.MSE()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("ε = %g: %d of %d candidates are likely, mean squared error %.2g\n", epsilon, p.Likely, p.Candidates, mse/650/10_000)
	}
	// Output:
	// ε = 1: 89 of 256 candidates are likely, mean squared error 0.00064
	// ε = 4: 17 of 256 candidates are likely, mean squared error 4.4e-05
}
