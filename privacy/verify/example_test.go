package verify_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

// A round of CoCo that is small enough for the exact method: two coordinates, one entry.
func ExampleRound() {
	round := fl.Round{
		ID: "small", Mechanism: coco.Name, Dim: 2, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne,
		MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{"sparsity": fl.Int(1), "slots": fl.Int(4), "hash": fl.Text("gf2")},
	}
	report, err := verify.Round(context.Background(), round, verify.Options{
		Seeds: 20,
		Rand:  rand.New(rand.NewChaCha8([32]byte{1})), // fixed because this is an example; leave it out
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("holds:", report.Holds)
	fmt.Println("method:", report.Method, "over", report.Inputs, "inputs and", report.Seeds, "seeds")
	fmt.Printf("ε of the worst ratio: %.6f\n", float64(report.EpsilonFound))
	// Output:
	// holds: true
	// method: exact over 6 inputs and 20 seeds
	// ε of the worst ratio: 1.000000
}
