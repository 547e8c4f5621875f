package gaussian_test

import (
	"fmt"
	"log"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/gaussian"
)

// 2000 clients send shares of their gradients to two servers. Each server adds what it got,
// and only the two sums together give the mean.
func Example() {
	round, mechanism, err := fl.Complete(fl.Round{
		ID: "r1", Mechanism: gaussian.SharesName, Dim: 3, Scale: 1, Epsilon: 4, Delta: 1e-6,
		MinReports: 2000, PublicSeed: fl.NewPublicSeed(),
	})
	if err != nil {
		log.Fatal(err)
	}
	policy := fl.Policy{MaxEpsilon: 4, MaxDelta: 1e-6, MinReports: 1000, Mechanisms: []string{gaussian.SharesName}}
	if err := policy.Check(round, mechanism.Guarantee()); err != nil {
		log.Fatal(err)
	}
	two := mechanism.(fl.SharedMechanism)
	first, err := two.NewShareAggregator(fl.FirstServer)
	if err != nil {
		log.Fatal(err)
	}
	second, err := two.NewShareAggregator(fl.SecondServer)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2000 {
		a, b, err := two.EncodeShares(nil, nil, []float64{0.5, -0.25, 0}, nil)
		if err != nil {
			log.Fatal(err)
		}
		id := fmt.Appendf(nil, "report %d", i)
		if err := first.Add(id, a); err != nil {
			log.Fatal(err)
		}
		if err := second.Add(id, b); err != nil {
			log.Fatal(err)
		}
	}
	fromFirst, err := first.Release(nil)
	if err != nil {
		log.Fatal(err)
	}
	fromSecond, err := second.Release(nil) // over the network
	if err != nil {
		log.Fatal(err)
	}
	estimate, err := two.Combine(fromFirst, fromSecond)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f from %d reports, %v\n", estimate.Mean().Value[0], estimate.Reports, mechanism.Guarantee())
	// Output: 0.5 from 2000 reports, (ε=4, δ=1e-06)-DP, two-servers model, against either server alone, replace-one
}
