package client_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
	"github.com/hushgrad/hushgrad/sparse"
)

// served returns a connection to a server, which elsewhere is grpc.NewClient with the server's address.
func served() (conn *grpc.ClientConn, stop func() error) {
	s, err := servertest.Start(server.Config{})
	if err != nil {
		log.Fatal(err)
	}
	return s.Conn(), s.Close
}

// A client checks the round against its own policy before it encodes anything.
func Example() {
	conn, stop := served()
	defer stop()
	ctx := context.Background()
	if _, err := client.NewOperator(conn).OpenRound(ctx, fl.Round{
		ID: "monday", Mechanism: coco.Name, Dim: 5, Scale: 0.5, Epsilon: 4, MinReports: 100,
		Params: fl.Params{sparse.ParamSparsity: fl.Int(1)},
	}); err != nil {
		log.Fatal(err)
	}

	cautious, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 1}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = cautious.Join(ctx, "monday")
	fmt.Println(err)

	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 4, MinReports: 100}})
	if err != nil {
		log.Fatal(err)
	}
	part, err := c.Join(ctx, "monday")
	if err != nil {
		log.Fatal(err)
	}
	report, err := part.Encode(nil, []float64{0.1, -0.2, 0, 0, 0.05}, nil)
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := part.Submit(ctx, [][]byte{report})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bytes under %v\n", len(report), part.Guarantee())
	fmt.Println("accepted:", receipt.Accepted)
	// Output:
	// client: join: fl: refused by the client's policy: epsilon: got 4, rule: must be at most 1
	// 5 bytes under (ε=4, δ=0)-DP, local model, replace-one
	// accepted: 1
}

// The operator asks for a column beside the mean: the share of clients that hold a key.
func ExampleOperator() {
	conn, stop := served()
	defer stop()
	ctx := context.Background()
	operator := client.NewOperator(conn)
	if _, err := operator.OpenRound(ctx, fl.Round{
		ID: "fruit", Mechanism: coco.Name, Dim: 3, Scale: 1, Epsilon: 5, MinReports: 1000,
		Params:  fl.Params{sparse.ParamSparsity: fl.Int(1)},
		Columns: []string{fl.ColumnFrequency}, PublicSeed: [32]byte{1}, // drawn by the server when left open
	}); err != nil {
		log.Fatal(err)
	}

	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 5}})
	if err != nil {
		log.Fatal(err)
	}
	part, err := c.Join(ctx, "fruit")
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded only because this is an example
	var reports [][]byte
	for i := range 5000 {
		pair := fl.KeyValue{Key: []uint32{0, 0, 0, 1, 2}[i%5], Value: 1} // three of five clients hold the key 0
		report, err := part.EncodeKeyValues(nil, []fl.KeyValue{pair}, rng)
		if err != nil {
			log.Fatal(err)
		}
		reports = append(reports, report)
	}
	if _, err := part.Submit(ctx, reports); err != nil {
		log.Fatal(err)
	}
	if err := operator.CloseRound(ctx, "fruit"); err != nil {
		log.Fatal(err)
	}
	e, err := operator.Estimate(ctx, "fruit", false)
	if err != nil {
		log.Fatal(err)
	}
	frequency, _ := e.Column(fl.ColumnFrequency)
	for key, share := range frequency.Value {
		fmt.Printf("key %d: %.2f ± %.2f\n", key, share, frequency.StdErr[key])
	}
	// Output:
	// key 0: 0.60 ± 0.01
	// key 1: 0.20 ± 0.01
	// key 2: 0.20 ± 0.01
}

// The operator publishes a number of a training run, for the dashboard.
func ExampleOperator_PutScalars() {
	conn, stop := served()
	defer stop()
	ctx, operator := context.Background(), client.NewOperator(conn)
	err := operator.PutScalars(ctx, client.Scalar{Name: "test accuracy", Round: 3, Value: 0.91, StdErr: 0.004})
	fmt.Println(err)
	// Output: <nil>
}
