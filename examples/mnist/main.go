// Command mnist trains a classifier of handwritten digits under differential privacy. Use it
// to see federated learning at work: a parameter server and simulated clients in one
// process, which talk real gRPC over a loopback port. Start with the first of these:
//
//	go run ./examples/mnist                       # planned for a central ε of 1
//	go run ./examples/mnist -explain -budget 0.25 # for 0.25, and why so
//	go run ./examples/mnist -epsilon 5 -cohort 2000 # one report of local ε = 5 per client
//	go run ./examples/mnist -mechanism none       # without privacy
//	go run ./examples/mnist -data DIR -out out    # your MNIST files, results in out
//
// Every client holds one image (or a few), and sends one report of a few bytes in each
// round in which it takes part. The server never sees a gradient.
//
// Read on below: the run from top to bottom, its plan, and what is left of it. A round, with
// its server and its clients, is in federation.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/history"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

func main() { command.Main("mnist", mnist) }

// mnist plans a run, loads the data and trains.
func mnist(ctx context.Context, args []string, std command.Streams) error {
	o, err := parse(args, std.Err)
	if err != nil {
		return err
	}
	fmt.Fprintln(std.Err, "planning the run from public numbers")
	model, run, err := o.plan(ctx)
	if err != nil {
		return err
	}
	data, err := dataset.Load(ctx, dataset.Options{Dir: o.data, Seed: uint64(o.seed), Logf: func(format string, args ...any) {
		fmt.Fprintf(std.Err, format+"\n", args...)
	}})
	if err != nil {
		return err
	}
	return o.train(ctx, model, run, data, std)
}

// train is the whole run: a model, a plan and images become a better model.
func (o options) train(ctx context.Context, model *trainer.Model, run *plan.Run, data *dataset.Data, std command.Streams) (err error) {
	began := time.Now()
	fmt.Fprintf(std.Out, "%s\n%s, %d parameters, %v, simulated on %d cores\n\n", data.Note, o.model, model.Dim(), run, runtime.GOMAXPROCS(0))
	for _, remark := range run.Remarks() {
		fmt.Fprintf(std.Out, "%s\n\n", remark)
	}
	if o.explain {
		if err := run.Explain(std.Out); err != nil {
			return err
		}
	}
	// Each client gets its share of the training images, and they take part in turn.
	if data, err = data.In(o.features()); err != nil {
		return err
	}
	clients, err := trainer.NewClients(data.Train.All(), data.Train.Labels, run.Clients, o.seed.Order())
	if err != nil {
		return err
	}
	f := &federation{run: run, model: model, clients: clients, seed: o.seed, bar: progress.New(std.Err)}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.start(); err != nil {
		return err
	}

	// The model is measured after each round, on test images that no client holds.
	test, err := model.NewEvaluator(min(500, data.Test.Len()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, test.Close()) }()
	rounds, err := history.New(std.Out)
	if err != nil {
		return err
	}
	roundBegan := time.Now()
	trained, err := trainer.Run(ctx, f, model.Init(o.seed.Init()), trainer.RunConfig{
		Rounds: run.Affordable, // what all rounds cost together is known beforehand
		Steps:  trainer.Momentum(run.LearningRate, run.Momentum, run.Averaging),
		After: func(p trainer.Progress) error {
			accuracy, loss, err := test.Evaluate(p.Average, data.Test.All(), data.Test.Labels)
			if err != nil {
				return err
			}
			promise, err := run.Spending.Promise(ctx, p.Round+1)
			if err != nil {
				return err
			}
			seconds := time.Since(roundBegan).Seconds()
			roundBegan = time.Now()
			return rounds.Add(history.Round{
				Round: p.Round + 1, Accuracy: accuracy, Loss: loss, Reports: p.Estimate.Reports, Bytes: f.bytes.Swap(0),
				EpsilonCentral: promise.Central, Seconds: seconds,
			})
		},
	})
	if err != nil {
		return err
	}

	promise, err := run.Promise(ctx)
	if err != nil {
		return err
	}
	s := summary{rounds.Accuracy(), run, promise, rounds.BytesPerReport(), time.Since(began).Seconds(), data.Source, o.model}
	fmt.Fprintf(std.Out, "\ntest accuracy      %.4f  (%s digits, %.1f s)\n", s.TestAccuracy, s.Data, s.Seconds)
	if err := run.PrintEnd(ctx, std.Out); err != nil {
		return err
	}
	switch {
	case s.Local != nil:
		fmt.Fprintln(std.Out, "                   In this demo the server is its own shuffler: against the server itself only the local ε holds.")
	case s.Central != nil:
		fmt.Fprintln(std.Out, "                   In this demo the server is its own shuffler: against the server itself nothing holds.")
	}
	if err := rounds.PrintUpload(std.Out, s.Dim); err != nil || o.out == "" {
		return err
	}
	title := fmt.Sprintf("%s on %s digits, %s at %v", s.Model, s.Data, s.Mechanism, s.Promise)
	if err := errors.Join(rounds.Write(o.out, title, s), trainer.Save(filepath.Join(o.out, "model.npy"), model, trained)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.Out, "results            %s: history.csv, summary.json, accuracy.png, model.npy\n", o.out)
	return err
}

// networkRate is a learning rate at which networks with hidden units still learn: unlike
// that of softmax regression, their loss is not convex.
const networkRate = 2

// plan decides what the flags leave open, before any client takes part and from public
// numbers only: the size of the model, the number of clients, the budget, and the norms of
// gradients on generated digits, which nobody wrote.
func (o options) plan(ctx context.Context) (*trainer.Model, *plan.Run, error) {
	digits, err := dataset.Generate(ctx, dataset.Options{TrainSize: 256, TestSize: 1, Seed: 1})
	if err != nil {
		return nil, nil, err
	}
	if digits, err = digits.In(o.features()); err != nil {
		return nil, nil, err
	}
	d := digits.Train
	model, err := trainer.NewModel(o.model, trainer.Input{Channels: max(1, d.Channels), Height: d.Rows, Width: d.Cols}, d.Classes)
	if err != nil {
		return nil, nil, err
	}
	r := o.request
	if r.Dim = model.Dim(); o.model != "softmax" {
		r.MaxLearningRate = networkRate
	}
	if r.L1, r.L2, err = trainer.GradientNorms(model, model.Init(o.seed.Init()), d.All(), d.Labels); err != nil {
		return nil, nil, err
	}
	run, err := r.Run(ctx)
	return model, run, err
}

// features are a fixed function of one image, so they cost no privacy.
func (o options) features() dataset.Features {
	if o.model == "cnn" {
		return dataset.Pooled
	}
	return dataset.UnitEdges
}

// options are what the flags say.
type options struct {
	data, model, out string
	request          plan.Request
	seed             trainer.Seed
	explain          bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	r := &o.request
	f := flag.NewFlagSet("mnist", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.data, "data", "", "`directory` with the four MNIST idx files; empty: the user cache, then a download, then generated digits")
	f.StringVar(&r.Mechanism, "mechanism", auto.Name, "auto, coco, collision, signsketch, sumdp or none")
	f.Float64Var(&r.Epsilon, "epsilon", 0, "ε of one report: local, or central with sumdp; 0: the largest that -budget allows, or 1 with sumdp")
	f.Float64Var(&r.Budget, "budget", 0, "central ε of the whole run at -delta, after which it ends; 0: none, or 1 where -epsilon is not given either")
	f.Float64Var(&r.Delta, "delta", 1e-6, "δ at which the central ε is stated")
	f.IntVar(&r.Clients, "clients", 60000, "number of clients; the training images are split evenly among them")
	f.IntVar(&r.Cohort, "cohort", 0, "clients of a round; 0: planned")
	f.IntVar(&r.Rounds, "rounds", 0, "rounds; clients take part in turn, and the guarantees of their reports compose; 0: 30, or 10 with sumdp")
	f.IntVar(&r.Sparsity, "sparsity", 0, "signed coordinates per client before the randomizer, s; 0: planned")
	f.Float64Var(&r.Clip, "clip", 0, "norm to which a client's gradient is clipped: L1, or L2 with sumdp; 0: planned")
	f.Float64Var(&r.LearningRate, "lr", 0, "learning rate of the server; 0: planned")
	f.StringVar(&o.model, "model", "softmax", strings.Join(trainer.ModelNames(), ", "))
	f.Uint64Var((*uint64)(&o.seed), "seed", 0, "0: fresh randomness for every client; any other value makes the run repeatable and is for experiments only")
	f.StringVar(&o.out, "out", "", "`directory` for history.csv, summary.json, accuracy.png and model.npy")
	f.BoolVar(&o.explain, "explain", false, "print what was planned and why")
	return o, command.ParseOnly(f, args)
}

// summary is what a run led to: summary.json.
type summary struct {
	TestAccuracy float64 `json:"test_accuracy"`
	*plan.Run
	plan.Promise
	BytesPerReport float64 `json:"bytes_per_report"`
	Seconds        float64 `json:"seconds"`
	Data           string  `json:"data"`
	Model          string  `json:"model"`
}
