package plan_test

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/plan"
)

// A training run may spend a central ε of 1 on each of 60 000 clients, all reports of a
// client together. The plan says how often a client takes part and what one report costs.
func Example() {
	s, err := plan.Training{
		Dim: 1970, Clients: 60_000, Rounds: 1, Epsilon: 1, Delta: 1e-6, L1: 10, L2: 1,
	}.Schedule(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d participation with local ε = %.2f; together central ε = %.2f\n",
		s.Mechanism, s.Participations, s.EpsilonLocal, s.EpsilonCentral)
	// Output: coco: 1 participation with local ε = 7.27; together central ε = 1.00
}
