package keyvalue_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// The padding length should fit most clients and no more. 5000 clients that stay out of the round of the
// pairs say in a round of their own how many pairs they hold: one to four, and one client in a hundred 40.
func ExamplePaddingFromSizes() {
	classes, err := keyvalue.SizeClasses(50)
	if err != nil {
		log.Fatal(err)
	}
	_, m, err := fl.Complete(fl.Round{
		ID: "sizes", Mechanism: keyvalue.PCKVUE, Dim: len(classes), Scale: 1, Epsilon: 2, MinReports: 1000,
		PublicSeed: fl.NewPublicSeed(),
		Params:     fl.Params{keyvalue.ParamPadding: fl.Int(1)},
		Columns:    []string{fl.ColumnFrequency},
	})
	if err != nil {
		log.Fatal(err)
	}

	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded because this is an example
	agg := m.NewAggregator()
	for i := range 5000 {
		held := 1 + i%4
		if i%100 == 0 {
			held = 40
		}
		size := []fl.KeyValue{keyvalue.SizePair(held, classes)}
		report, err := m.(fl.KeyValueMechanism).EncodeKeyValues(nil, size, rng)
		if err != nil {
			log.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			log.Fatal(err)
		}
	}

	sizes, err := agg.Estimate()
	if err != nil {
		log.Fatal(err)
	}
	padding, err := keyvalue.PaddingFromSizes(sizes, classes, 0.9)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("padding length", padding)
	// Output: padding length 4
}
