package fl_test

import (
	"fmt"
	"log"

	_ "github.com/hushgrad/hushgrad/coco" // registers the mechanism "coco"
	"github.com/hushgrad/hushgrad/fl"
)

// Clients send one private report each, and a server estimates the mean of their gradients.
func Example() {
	// The round is public. Clients and server build the same mechanism from it.
	round, mechanism, err := fl.Complete(fl.Round{
		ID: "week-12", Mechanism: "coco", Dim: 4, Scale: 0.5, Epsilon: 4, MinReports: 1000,
		Params: fl.Params{"sparsity": fl.Int(2)}, PublicSeed: fl.NewPublicSeed(),
	})
	if err != nil {
		log.Fatal(err)
	}
	// A client need not trust the server: it checks what the round promises.
	policy := fl.Policy{MaxEpsilon: 4, MinReports: 1000}
	if err := policy.Check(round, mechanism.Guarantee()); err != nil {
		log.Fatal(err)
	}
	server := mechanism.NewAggregator()
	for range 20_000 {
		report, err := mechanism.Encode(nil, []float64{0.4, -0.3, 0.2, -0.1}, nil)
		if err != nil {
			log.Fatal(err)
		}
		if err := server.Add(report); err != nil {
			log.Fatal(err)
		}
	}
	estimate, err := server.Estimate()
	if err != nil {
		log.Fatal(err)
	}
	// The standard errors are 0.004, so the first decimal is certain.
	fmt.Printf("mean %.1f of %d reports, each %v\n", estimate.Mean().Value, estimate.Reports, estimate.Guarantee)
	// Output:
	// mean [0.4 -0.3 0.2 -0.1] of 20000 reports, each (ε=4, δ=0)-DP, local model, replace-one
}
