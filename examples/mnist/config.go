package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/dense"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/trainer"
)

// config is what the flags say.
type config struct {
	data      string
	mechanism string
	epsilon   float64
	delta     float64
	clients   int
	cohort    int
	rounds    int
	sparsity  int
	clip      float64
	lr        float64
	momentum  float64
	model     string
	pool      int
	seed      uint64
	out       string
	testSize  int
}

// mechanisms are the values of -mechanism.
var mechanisms = []string{dense.Name, coco.Name, collision.Name, signsketch.Name, auto.Name}

// defaults are the settings found best on MNIST at ε = 5 with 30 rounds of 2000
// clients: average-pooling divides the dimension, and with it the noise, by four
// and costs one point of accuracy without privacy; sparsity 32 to 64 with τ about
// 0.5 (half of the largest possible gradient entry) is a plateau, on which the
// learning rate trades the accuracy without privacy against the noise.
func defaults() config {
	return config{
		mechanism: coco.Name,
		epsilon:   5,
		delta:     1e-6,
		clients:   60000,
		cohort:    2000,
		rounds:    30,
		sparsity:  40,
		clip:      20,
		lr:        1.25,
		momentum:  0.5,
		model:     "softmax",
		pool:      2,
	}
}

func parseFlags(args []string, stderr io.Writer) (config, error) {
	c := defaults()
	f := flag.NewFlagSet("mnist", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, `Usage: mnist [flags]

Trains a digit classifier under local differential privacy: a parameter server
on a loopback port, simulated clients over gRPC, one report per client.

`)
		f.PrintDefaults()
	}
	f.StringVar(&c.data, "data", c.data, "`directory` with the four MNIST idx files; empty: the user cache, then a download, then generated digits")
	f.StringVar(&c.mechanism, "mechanism", c.mechanism, strings.Join(mechanisms, ", "))
	f.Float64Var(&c.epsilon, "epsilon", c.epsilon, "local privacy budget ε of one report")
	f.Float64Var(&c.delta, "delta", c.delta, "δ at which the central ε is stated")
	f.IntVar(&c.clients, "clients", c.clients, "number of clients; the training images are split evenly among them")
	f.IntVar(&c.cohort, "cohort", c.cohort, "reports per round")
	f.IntVar(&c.rounds, "rounds", c.rounds, "number of rounds; each client takes part in one at most")
	f.IntVar(&c.sparsity, "sparsity", c.sparsity, "signed coordinates per client before the randomizer, s")
	f.Float64Var(&c.clip, "clip", c.clip, "L1 clip norm of a client's gradient, τ·s; coordinates are capped at τ")
	f.Float64Var(&c.lr, "lr", c.lr, "learning rate of the server")
	f.Float64Var(&c.momentum, "momentum", c.momentum, "momentum of the server, in [0, 1)")
	f.StringVar(&c.model, "model", c.model, strings.Join(trainer.ModelNames(), ", "))
	f.IntVar(&c.pool, "pool", c.pool, "average-pool the images by this factor (2 gives 14×14)")
	f.Uint64Var(&c.seed, "seed", c.seed, "0: fresh randomness for every client; any other value makes the run repeatable and is for experiments only")
	f.StringVar(&c.out, "out", c.out, "`directory` for history.csv, summary.json, accuracy.png and model.npy")
	f.IntVar(&c.testSize, "test-size", c.testSize, "use only the first `n` test images; 0 uses all")
	if err := f.Parse(args); err != nil {
		return config{}, err
	}
	if f.NArg() > 0 {
		return config{}, fl.Invalid("arguments", f.Arg(0), "only flags are allowed, see -help")
	}
	return c, c.validate()
}

func (c config) validate() error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case !slices.Contains(mechanisms, c.mechanism):
		return fl.Invalid("-mechanism", c.mechanism, "must be one of %s", strings.Join(mechanisms, ", "))
	case !slices.Contains(trainer.ModelNames(), c.model):
		return fl.Invalid("-model", c.model, "must be one of %s", strings.Join(trainer.ModelNames(), ", "))
	case !(c.epsilon > 0 && c.epsilon <= fl.MaxEpsilon):
		return fl.Invalid("-epsilon", c.epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case !(c.delta > 0 && c.delta < 1):
		return fl.Invalid("-delta", c.delta, "must be in (0, 1)")
	case c.cohort < 2:
		return fl.Invalid("-cohort", c.cohort, "must be at least 2")
	case c.rounds < 1:
		return fl.Invalid("-rounds", c.rounds, "must be at least 1")
	case c.clients < c.cohort || c.rounds > c.clients/c.cohort:
		return fl.Invalid("-clients", c.clients, "each client takes part once: must be at least rounds × cohort = %d × %d", c.rounds, c.cohort)
	case c.sparsity < 1:
		return fl.Invalid("-sparsity", c.sparsity, "must be at least 1")
	case !positive(c.clip):
		return fl.Invalid("-clip", c.clip, "must be finite and > 0")
	case !positive(c.lr):
		return fl.Invalid("-lr", c.lr, "must be finite and > 0")
	case !(c.momentum >= 0 && c.momentum < 1):
		return fl.Invalid("-momentum", c.momentum, "must be in [0, 1)")
	case c.pool < 1:
		return fl.Invalid("-pool", c.pool, "must be at least 1")
	}
	return nil
}

// round describes round number i (from 0) of the run.
func (c config) round(i, dim int) fl.Round {
	r := fl.Round{
		ID:            fmt.Sprintf("mnist-%03d", i+1),
		Mechanism:     c.mechanism,
		Dim:           dim,
		Scale:         c.clip / float64(c.sparsity),
		Epsilon:       c.epsilon,
		Relation:      fl.ReplaceOne,
		MinReports:    c.cohort,
		TargetReports: c.cohort,
		PublicSeed:    c.publicSeed(i),
	}
	if c.mechanism == dense.Name {
		r.Epsilon = math.Inf(1)
	} else {
		r.Params = fl.Params{"sparsity": fl.Int(c.sparsity)}
	}
	return r
}
