package rivals_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
)

// PrivKVM with three real rounds. Half of the clients hold the only key, with the value 0.8. The mean of
// the first round is too small, and later ones come closer to 0.8.
func ExampleNewIteration() {
	rng := rand.New(rand.NewChaCha8([32]byte{1}))
	first, m, err := fl.Complete(fl.Round{
		ID: "privkvm", Mechanism: rivals.PrivKVM, Dim: 1, Scale: 1, Epsilon: 4, MinReports: 1, Columns: []string{fl.ColumnConditional},
		Params: fl.Params{rivals.ParamRounds: fl.Int(3), rivals.ParamVirtual: fl.Int(0)}, PublicSeed: [32]byte{1},
	})
	if err != nil {
		panic(err)
	}
	var clients [100_000][]fl.KeyValue
	for i := range clients[:50_000] {
		clients[i] = []fl.KeyValue{{Key: 0, Value: 0.8}}
	}
	agg := m.NewAggregator()
	for _, pairs := range clients {
		report, err := m.(fl.KeyValueMechanism).EncodeKeyValues(nil, pairs, rng)
		if err != nil {
			panic(err)
		}
		if err := agg.Add(report); err != nil {
			panic(err)
		}
	}
	e, err := agg.Estimate()
	if err != nil {
		panic(err)
	}
	conditional, _ := e.Column(fl.ColumnConditional)
	published := conditional.Value
	fmt.Printf("round 1: %.2f\n", published[0])
	for number := 2; number <= 3; number++ {
		next, err := rivals.NewIteration(first, number, published)
		if err != nil {
			panic(err)
		}
		agg := next.NewAggregator()
		for _, pairs := range clients {
			report, err := next.EncodeKeyValues(nil, pairs, rng)
			if err != nil {
				panic(err)
			}
			if err := agg.Add(report); err != nil {
				panic(err)
			}
		}
		if published, err = agg.Means(); err != nil {
			panic(err)
		}
		fmt.Printf("round %d: %.2f\n", number, published[0])
	}
	// Output:
	// round 1: 0.70
	// round 2: 0.74
	// round 3: 0.76
}
