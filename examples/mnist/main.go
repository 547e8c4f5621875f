// Command mnist trains a classifier of handwritten digits under differential
// privacy, through a parameter server and simulated clients that talk real gRPC
// over a loopback port.
//
//	go run ./examples/mnist                       # planned for a central ε of 1
//	go run ./examples/mnist -explain -budget 0.25 # for 0.25, and why so
//	go run ./examples/mnist -epsilon 5 -cohort 2000 # one report of local ε = 5 per client
//	go run ./examples/mnist -mechanism none       # without privacy
//	go run ./examples/mnist -data DIR -out out    # your MNIST files, results in out
//
// Every client holds one image (or a few), and sends one report of a few bytes in each
// round in which it takes part. The server never sees a gradient.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mnist:", err)
		os.Exit(2)
	}
	if err := run(ctx, cfg, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "mnist:", err)
		os.Exit(1)
	}
}
