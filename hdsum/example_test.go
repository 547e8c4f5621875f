package hdsum_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

// A whole round of the mechanism "sumdp": every client encodes its gradient, and the
// aggregator merges the messages and estimates the mean.
func Example() {
	_, mechanism, err := fl.Complete(fl.Round{
		ID: "round-1", Mechanism: hdsum.Name, Dim: 4,
		Scale:   1,                                                         // gradients are clipped to this L2 norm
		Epsilon: 2, Delta: 1e-6, MinReports: 2000, PublicSeed: [32]byte{1}, // a real seed comes from fl.NewPublicSeed
	})
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded because this is an example; a client passes nil
	aggregator := mechanism.NewAggregator()
	for range 2000 {
		report, err := mechanism.Encode(nil, []float64{0.6, -0.3, 0.1, 0.2}, rng)
		if err != nil {
			log.Fatal(err)
		}
		if err := aggregator.Add(report); err != nil {
			log.Fatal(err)
		}
	}
	estimate, err := aggregator.Estimate()
	if err != nil {
		log.Fatal(err)
	}
	for j, v := range estimate.Mean().Value {
		fmt.Printf("%+.1f ± %.2f\n", v, estimate.Mean().StdErr[j])
	}
	fmt.Println(estimate.Guarantee)
	// Output:
	// +0.6 ± 0.01
	// -0.3 ± 0.01
	// +0.1 ± 0.01
	// +0.2 ± 0.01
	// (ε=2, δ=1e-06)-DP, shuffle model, replace-one
}

// All numbers are small but one, which is a million. SumDP finds the range in which
// numbers stand out of the noise. The estimate has this range's noise, and the million is
// dropped.
func ExampleSumDP() {
	const clients = 3000
	sum, err := hdsum.NewSumDP(hdsum.Config{Clients: clients, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne}, 1_000_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{2})) // seeded because this is an example; a client passes nil
	sums := sum.NewSums()                         // the shuffler's
	for i := range clients {
		x := int64(i % 8)
		if i == 0 {
			x = 1_000_000
		}
		messages, err := sum.Encode(x, rng)
		if err != nil {
			log.Fatal(err)
		}
		if err := sums.Add(messages); err != nil {
			log.Fatal(err)
		}
	}
	estimate, err := sum.Analyze(sums)
	if err != nil {
		log.Fatal(err)
	}
	miss := math.Abs(estimate.Value - 3.5*clients)
	fmt.Printf("numbers up to %d count\n", estimate.Tau)
	fmt.Printf("standard error %.0f of %.0f\n", math.Sqrt(estimate.Variance), 3.5*clients)
	fmt.Println("within three standard errors:", miss < 3*math.Sqrt(estimate.Variance))
	// Output:
	// numbers up to 8 count
	// standard error 26 of 10500
	// within three standard errors: true
}
