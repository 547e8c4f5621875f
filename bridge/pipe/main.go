// Command pipe, installed as hushgrad-bridge, lets other languages use hushgrad. The Python package ships it and
// starts it: it reads requests from its standard input and writes answers to its standard
// output until the input ends. Package bridge/internal/abi describes them.
package main

import (
	"context"
	"os"
	"os/signal"
	"strconv"

	"github.com/hushgrad/hushgrad/bridge/internal/abi"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

func main() {
	// An interrupt at the keyboard reaches all processes of the terminal. It is for the
	// program that has started this one.
	signal.Ignore(os.Interrupt)
	os.Exit(command.Run(context.Background(), "hushgrad-bridge", serve, os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// serve answers requests. The only argument is the file descriptor of the memory that the one who
// asks shares, if there is one.
func serve(ctx context.Context, args []string, std command.Streams) error {
	var memory *abi.Memory
	if len(args) > 0 {
		descriptor, err := strconv.Atoi(args[0])
		if err != nil || len(args) > 1 {
			return fl.Invalid("arguments", args, "must be at most a file descriptor: the Python package hushgrad starts this program and talks to it")
		}
		if memory, err = abi.OpenMemory(descriptor); err != nil {
			return err
		}
	}
	return abi.Serve(ctx, std.In, std.Out, memory)
}
