// Command mnist trains a classifier of handwritten digits under differential
// privacy, through a parameter server and simulated clients that talk real gRPC
// over a loopback port.
//
//	go run ./examples/mnist                       # CoCo, local ε = 5
//	go run ./examples/mnist -mechanism none       # the same without privacy
//	go run ./examples/mnist -data DIR -out out    # your MNIST files, results in out
//
// Every client holds one image (or a few), takes part in exactly one round and
// sends one report of a few bytes. The server never sees a gradient.
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
