package server_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/sparse"
)

// serve runs a server on this machine until stop is called, and returns a connection to it.
func serve() (conn *grpc.ClientConn, stop func()) {
	srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, server.Listeners{Clients: listener}) }()
	conn, err = grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	return conn, func() {
		conn.Close()
		cancel()
		if err := <-served; err != nil {
			log.Fatal(err)
		}
	}
}

// One round: the operator opens it, 500 clients take part, the operator reads the mean.
func Example() {
	conn, stop := serve()
	defer stop()
	ctx := context.Background()
	operator := client.NewOperator(conn)
	if _, err := operator.OpenRound(ctx, fl.Round{
		ID: "monday", Mechanism: coco.Name, Dim: 3, Scale: 1, Epsilon: 4, MinReports: 100,
		Params:     fl.Params{sparse.ParamSparsity: fl.Int(1)},
		PublicSeed: [32]byte{1}, // drawn by the server when left open
	}); err != nil {
		log.Fatal(err)
	}

	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 4, MinReports: 100}})
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
