// Package serving measures the parameter server under load. Use it to see how many reports a
// machine takes, or what a change to the server costs. Start with go run ./bench serve. go run ./bench
// shards does the same for a cluster, and go run ./bench tokens for an issuer.
//
// The server is a process of its own (package bench/serving/process) and the clients are this
// one, on the same machine, over loopback TCP. Both share its processors. Beside every rate
// stands what gRPC alone carries in messages of the same sizes, in the same run.
package serving

import (
	"context"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return append([]experiment.Experiment{{
		Name:    "serve",
		Title:   "Reports per second of a parameter server, beside gRPC alone and Prio3",
		Source:  "Our own measurement; no paper",
		Without: []string{experiment.FlagData},
		Bind: func(f *flag.FlagSet) experiment.Run {
			s := setting{}
			f.StringVar(&s.dir, "dir", "", "`directory` on the disk to measure, for journals; empty: the system's for temporary files")
			f.DurationVar(&s.window, "window", 0, "how long clients send for one number; 0: 1s, or 200ms with --quick")
			f.IntVar(&s.kills, "kills", 0, "times that a server with a journal on disk is killed; 0: 20, or 3 with --quick")
			f.StringVar(&s.profiles, "profiles", "", "`directory` for a profile of every server's processor time; empty: none is made")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) { return s.run(ctx, env) }
		},
	}, tokensExperiment()}, experiment.ForMaintainers.All(shardsExperiment())...)
}
