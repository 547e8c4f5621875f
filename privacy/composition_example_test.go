package privacy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/privacy"
)

// A client takes part in 100 rounds. All that is known of a round is its budget.
func ExampleHomogeneous_EpsilonAt() {
	epsilon, _, err := privacy.BasicComposition(0.1, 0, 100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("added up: ε = %.2f, δ = 0\n", epsilon)

	best, err := privacy.Homogeneous{Epsilon: 0.1, Count: 100}.EpsilonAt(1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("composed: ε = %.2f, δ = 10^-6\n", best)
	// Output:
	// added up: ε = 10.00, δ = 0
	// composed: ε = 4.77, δ = 10^-6
}

// In each of 20 rounds 1000 clients send reports with local ε = 1 through a shuffler.
// The distribution of the privacy loss knows more of such a round than one pair (ε, δ).
func ExampleDistribution() {
	round, err := privacy.Shuffled(context.Background(), 1, 4, 17, 1000, privacy.Options{})
	if err != nil {
		log.Fatal(err)
	}
	all, err := round.Compose(20)
	if err != nil {
		log.Fatal(err)
	}
	epsilon, err := all.Epsilon(context.Background(), 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("ε = %.3f, at least %.3f\n", epsilon.Upper, epsilon.Lower)
	// Output: ε = 0.572, at least 0.572
}
