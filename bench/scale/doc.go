// Package scale simulates populations of clients, up to a hundred millions on one machine. Use it
// to see what a round of a given size costs, and what clients do to it that drop out, come late,
// send again or lie. Start with go run ./bench scale.
//
// # What is real
//
// Every client encodes a gradient by the mechanism's own encoder, with fresh randomness. The
// server is hushgrad's own, in a process of its own (package bench/serving/process), with a
// journal on disk, over loopback TCP. Reports travel in the messages of the protocol.
//
// # What is simulated
//
// Clients share gradients: each draws one from a small pool, so that the true mean is known at any
// size. Clients send in groups, as through a gateway: a message has --batch reports and one key. A
// group comes late, or is sent again, as a whole. Every client of its own drops out, or lies.
//
// A liar sends valid bytes: the report that moves one coordinate as far as a report can. All
// liars agree on the coordinate.
package scale

import (
	"context"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:    "scale",
		Title:   "A round with millions of clients that drop out, come late, send again and lie",
		Source:  "Our own measurement; no paper",
		Without: []string{experiment.FlagData, experiment.FlagRepeats},
		Aside:   []string{"dir", "cpuprofile"},
		Bind: func(f *flag.FlagSet) experiment.Run {
			s := &setting{}
			s.bind(f)
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) { return s.run(ctx, env) }
		},
	}}
}
