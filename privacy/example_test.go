package privacy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// Ten thousand clients each send one Collision report with ε = 1 about 4 of their
// coordinates, through 17 output slots.
func ExampleBlanket_Epsilon() {
	b, err := privacy.NewBlanket(1, 4, 17)
	if err != nil {
		log.Fatal(err)
	}
	epsilonCentral, err := b.Epsilon(10_000, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the shuffled reports are (%.4f, 1e-06)-differentially private\n", epsilonCentral)
	// Output: the shuffled reports are (0.0335, 1e-06)-differentially private
}

// What local ε may ten thousand clients use, with any randomizer, for a central ε of 0.1?
func ExampleLocalFor() {
	build := func(epsilon float64) (fl.Amplification, error) { return privacy.NewClone(epsilon) }
	local, err := privacy.LocalFor(context.Background(), build, 10_000, 1e-6, 0.1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("local epsilon %.3f\n", local)
	// Output: local epsilon 1.524
}
