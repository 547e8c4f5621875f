package gkmps_test

import (
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/gkmps"
)

// What does a client send so that 100 000 clients can sum integers from 0 to 8? The error of the sum is the same
// with all calibrations, and so is the guarantee.
func ExampleNew() {
	for _, calibration := range []gkmps.Calibration{gkmps.Published, gkmps.Certified, gkmps.Tight} {
		p, err := gkmps.New(gkmps.Config{
			Clients: 100_000, Bound: 8, Epsilon: 1, Delta: 1e-12, Relation: fl.ReplaceOne, Calibration: calibration,
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-9s  %4.1f messages of %d bits, variance of the sum %.0f\n", calibration, p.ExpectedMessages(), p.MessageBits(), p.NoiseVariance())
	}
	// Output:
	// published  79.4 messages of 4 bits, variance of the sum 158
	// certified  66.7 messages of 4 bits, variance of the sum 158
	// tight      11.1 messages of 4 bits, variance of the sum 158
}
