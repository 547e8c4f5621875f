package keyvalue_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// 20 000 clients rate films between −1 and 1. Every client has seen at most two of five films
// and sends one private report. The round asks how many clients have seen a film, and how
// they like it.
func Example() {
	round, m, err := fl.Complete(fl.Round{
		ID: "films", Mechanism: keyvalue.PCKVUE, Dim: 5, Scale: 1, Epsilon: 4, MinReports: 1000,
		PublicSeed: fl.NewPublicSeed(),
		Params:     fl.Params{keyvalue.ParamPadding: fl.Int(2)},
		Columns:    []string{fl.ColumnFrequency, fl.ColumnConditional},
	})
	if err != nil {
		log.Fatal(err)
	}

	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded because this is an example
	agg := m.NewAggregator()
	for i := range 20_000 {
		seen := []fl.KeyValue{{Key: 0, Value: 0.8}} // key 0: every client likes it
		if i%2 == 0 {
			seen = append(seen, fl.KeyValue{Key: 3, Value: -0.5}) // every second client dislikes it
		}
		report, err := m.(fl.KeyValueMechanism).EncodeKeyValues(nil, seen, rng)
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
	frequency, _ := e.Column(fl.ColumnFrequency)
	conditional, _ := e.Column(fl.ColumnConditional)
	fmt.Println(e.Guarantee)
	for film := range round.Dim {
		if frequency.Value[film] > 0.1 {
			fmt.Printf("film %d: seen by %.2f ± %.2f, liked %+.1f\n", film, frequency.Value[film], frequency.StdErr[film], conditional.Value[film])
		}
	}
	// Output:
	// (ε=4, δ=0)-DP, local model, replace-one
	// film 0: seen by 1.00 ± 0.01, liked +0.8
	// film 3: seen by 0.50 ± 0.01, liked -0.5
}

// Clients that all hold one key have frequencies of sum 1. Estimates have not, because of the
// noise. The projection makes them so and never moves them away from the truth.
func ExampleSimplex() {
	frequencies := []float64{0.62, 0.41, 0.05, -0.08}
	if err := keyvalue.Simplex(frequencies, frequencies, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", frequencies)
	// Output: [0.59 0.38 0.02 0.00]
}
