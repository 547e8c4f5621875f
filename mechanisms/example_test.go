package mechanisms_test

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/mechanisms"
)

// A round that asks for "auto" is completed to the mechanism with the smallest error.
func Example() {
	for _, epsilon := range []float64{0.5, 5} {
		r, _, err := fl.Complete(fl.Round{
			ID: "round", Mechanism: "auto", Params: fl.Params{"sparsity": fl.Int(64)},
			Dim: 7850, Scale: 0.5, Epsilon: epsilon, MinReports: 1000, PublicSeed: fl.NewPublicSeed(),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("ε =", epsilon, r.Mechanism)
	}
	// Output:
	// ε = 0.5 signsketch
	// ε = 5 coco
}
