package server_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/servertest"
	"github.com/hushgrad/hushgrad/sparse"
)

// One round: the operator opens it, 500 clients take part, the operator reads the mean.
func Example() {
	s, err := servertest.Start(server.Config{}) // server.New and Serve, in memory
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	operator := s.Operator()
	if _, err := operator.OpenRound(ctx, fl.Round{
		ID: "monday", Mechanism: coco.Name, Dim: 3, Scale: 1, Epsilon: 4, MinReports: 100,
		Params:     fl.Params{sparse.ParamSparsity: fl.Int(1)},
		PublicSeed: [32]byte{1}, // drawn by the server when left open
	}); err != nil {
		log.Fatal(err)
	}

	c, err := s.Client(fl.Policy{MaxEpsilon: 4, MinReports: 100})
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded only because this is an example
	for range 500 {
		part, err := c.Join(ctx, "monday")
		if err != nil {
			log.Fatal(err)
		}
		report, err := part.Encode(nil, []float64{0.7, -0.3, 0}, rng)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := part.Submit(ctx, [][]byte{report}); err != nil {
			log.Fatal(err)
		}
	}

	if err := operator.CloseRound(ctx, "monday"); err != nil {
		log.Fatal(err)
	}
	e, err := operator.Estimate(ctx, "monday", false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d reports under %v\n", e.Reports, e.Guarantee)
	for j, v := range e.Mean().Value {
		fmt.Printf("%+.2f ± %.2f\n", v, e.Mean().StdErr[j])
	}
	// Output:
	// 500 reports under (ε=4, δ=0)-DP, local model, replace-one
	// +0.68 ± 0.03
	// -0.29 ± 0.02
	// +0.00 ± 0.01
}
