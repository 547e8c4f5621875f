package tiers_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/tiers"
)

// A round with a menu. Most clients want ε = 1, some accept 8. The server combines the two
// means by their errors.
func Example() {
	_, m, err := fl.Complete(fl.Round{
		ID: "menu", Mechanism: tiers.Name, Dim: 10, Scale: 1, Epsilon: 8, MinReports: 1000,
		PublicSeed: [32]byte{1}, // fixed because this is an example, else fl.NewPublicSeed()
		Params: fl.Params{
			tiers.ParamBase: fl.Text("coco"),
			tiers.ParamMenu: fl.Text("1,8"),
			"sparsity":      fl.Int(2),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	menu := m.(fl.TieredMechanism)
	for tier, g := range menu.Tiers() {
		fmt.Printf("tier %d: %v\n", tier, g)
	}

	rng := rand.New(rand.NewChaCha8([32]byte{2})) // seeded because this is an example
	agg := m.NewAggregator()
	gradient := []float64{0.5, -0.5, 0, 0, 0, 0, 0, 0, 0, 0.5}
	for i := range 4000 {
		tier := 0
		if i%4 == 0 {
			tier = 1
		}
		report, err := menu.EncodeTier(nil, tier, gradient, rng)
		if err != nil {
			log.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			log.Fatal(err)
		}
	}

	e, err := agg.Estimate()
	if err != nil {
		log.Fatal(err)
	}
	for tier, part := range e.Tiers {
		fmt.Printf("tier %d: %d clients, weight %.2f\n", tier, part.Reports, part.Weight)
	}
	mean := e.Mean()
	fmt.Printf("coordinate 0: %.2f ± %.2f\n", mean.Value[0], mean.StdErr[0])
	// Output:
	// tier 0: (ε=1, δ=0)-DP, local model, replace-one
	// tier 1: (ε=8, δ=0)-DP, local model, replace-one
	// tier 0: 3000 clients, weight 0.04
	// tier 1: 1000 clients, weight 0.96
	// coordinate 0: 0.50 ± 0.03
}

// Two groups of clients have estimated their means already, one of them with more noise.
func ExampleCombine() {
	c, err := tiers.Combine([]tiers.Group{{Share: 0.75, Variance: 0.09}, {Share: 0.25, Variance: 0.01}}, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("weights %.2f, variance %.3f\n", c.Weights, c.Variance)
	// Output: weights [0.10 0.90], variance 0.009
}
