package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// demoProgram is examples/mnist as a release ships it. It is a program of its own because it would make this one a third larger.
const demoProgram = "hushgrad-demo"

// newDemo returns the command that starts the demo. The demo reads its own flags.
func newDemo() *cobra.Command {
	c := newCommand("demo [flags]", "train a digit classifier on simulated clients", `Trains a classifier of handwritten digits under differential privacy on this machine, with a
server and 60 000 simulated clients. It draws the digits itself and needs no network.

  hushgrad demo
  hushgrad demo --trust shuffler --explain
  hushgrad demo --help                      # all flags

It starts the program `+demoProgram+`, which is in the archive of a release, beside this program or on PATH.`, startDemo)
	c.Args, c.DisableFlagParsing = cobra.ArbitraryArgs, true
	return c
}

// startDemo runs the demo to its end. The demo prints its own errors.
func startDemo(ctx context.Context, args []string, std command.Streams) error {
	program, err := findDemo()
	if err != nil {
		return err
	}
	demo := exec.CommandContext(ctx, program, args...)
	demo.Args[0] = "hushgrad demo" // its name in its errors
	demo.Stdin, demo.Stdout, demo.Stderr = std.In, std.Out, std.Err
	demo.Cancel = func() error {
		if demo.Process.Signal(os.Interrupt) == nil {
			return nil
		}
		return demo.Process.Kill() // the system has no interrupts
	}
	demo.WaitDelay = demoStops
	err = demo.Run()
	ended, started := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return command.Printed(ctx.Err())
	case err == nil || !started:
		return err
	case ended.ExitCode() == wrongCall:
		return command.Printed(fl.Invalid("arguments", strings.Join(args, " "), "must be the demo's"))
	}
	return command.Printed(err)
}

const (
	demoStops = 10 * time.Second // after an interrupt
	wrongCall = 2                // exit code, see command.Run
)

// findDemo returns the path of the demo: beside this program, or on PATH.
func findDemo() (string, error) {
	if this, err := os.Executable(); err == nil {
		if this, err = filepath.EvalSymlinks(this); err == nil {
			if beside, err := exec.LookPath(filepath.Join(filepath.Dir(this), demoProgram)); err == nil {
				return beside, nil
			}
		}
	}
	program, err := exec.LookPath(demoProgram)
	if err != nil {
		version := cmp.Or(released(thisBuild()), "latest")
		return "", fmt.Errorf("%s is not beside this program and not on PATH. Unpack it from the archive of the release, or type with Go installed: go run %s/examples/mnist@%s, and in a clone: go run ./examples/mnist",
			demoProgram, modulePath, version)
	}
	return program, nil
}
