// Command mnist trains a classifier of handwritten digits under differential privacy. Use it
// to see federated learning at work: a parameter server and simulated clients, which talk real
// gRPC over loopback ports. Start with the first of these:
//
//	go run ./examples/mnist                       # generated digits; local ε of 4 in total, nobody is trusted
//	go run ./examples/mnist --dashboard            # the same, watched in a browser
//	go run ./examples/mnist --trust shuffler --budget 0.25 --explain # for a central ε of 0.25, and why so
//	go run ./examples/mnist --trust own-site --budget 2 # 12 sites, such as hospitals; ε of one record
//	go run ./examples/mnist --liars 0.01           # one client in a hundred lies
//	go run ./examples/mnist --epsilon 5 --cohort 2000 # one report of local ε = 5 per client
//	go run ./examples/mnist --mechanism none       # without privacy
//	go run ./examples/mnist --data download        # MNIST from the cache or the network
//	go run ./examples/mnist --data DIR --out out    # your MNIST files, results in out
//	go run ./examples/mnist --data DIR --features auto # pictures of another kind in files like MNIST's
//	go run ./examples/mnist --data DIR --classes 26 # letters in such files, or any 2 to 1000 classes
//	go run ./examples/mnist --roles 3 --clients 2000 --cohort 2000 --rounds 5 # issuer, shuffler and aggregator apart
//
// Every client holds one image (or a few), and sends one report of a few bytes in each
// round in which it takes part. With --trust own-site a client is a site, which holds many images and sends one report of all of them in every
// round. The server never sees a gradient.
//
// Read on below: the run from top to bottom. The flags are in options.go, what is planned from public numbers is in
// plan.go, the clients' connections are in federation.go, what a run leaves is in results.go, and who holds the rounds is in parties.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hushgrad/hushgrad/examples/internal/curious"
	"github.com/hushgrad/hushgrad/examples/internal/training"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	_ "github.com/hushgrad/hushgrad/examples/mnist/dataset/cloth" // adds features
	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/history"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// program is what this was started as: mnist, or hushgrad demo.
var program = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")

func main() { command.Main(program, mnist) }

// mnist loads the data, plans a run and trains.
func mnist(ctx context.Context, args []string, std command.Streams) error {
	o, err := parse(args, std.Out)
	if err != nil {
		return err
	}
	if err := cmp.Or(history.Writable("--out", o.out), o.dashboard.Check()); err != nil {
		return err
	}
	data, err := dataset.Load(ctx, dataset.Options{Source: o.data, Classes: o.classes, Transpose: o.transpose, Seed: uint64(o.seed), Log: std.Err})
	if err != nil {
		return err
	}
	if o.live = command.IsTerminal(std.Out) && !o.explain; !o.live {
		fmt.Fprintln(std.Err, "planning the run from public numbers")
	}
	bar := progress.New(std.Err, "planning")
	o.request.Progress = bar
	model, run, err := o.plan(ctx, data.Train.Len()) // opens the features, too
	bar.Close()
	if err != nil {
		return plan.OfFlag(o.flags, err)
	}
	return o.train(ctx, model, run, data, std)
}

// train is the whole run. An interrupt ends it with the rounds so far.
func (o options) train(ctx context.Context, model *trainer.Model, run *plan.Run, data *dataset.Data, std command.Streams) (err error) {
	s := summary{Data: data.Source, Model: o.model, Features: o.features, Roles: o.Roles, Chance: 1 / float64(data.Test.Classes)}
	bar := progress.New(std.Err, "zero-shot")
	zeroShot, _, err := dataset.ZeroShot(ctx, o.opened, data.Test, bar)
	bar.Close()
	if err != nil {
		return err
	}
	if o.warm { // what the features know without any client
		s.ZeroShot = &zeroShot
	}
	if err := cmp.Or(o.Liars.Prepare(ctx, data.Test, o.opened, o.model), o.printStart(ctx, std.Out, model, run, s, data.Note)); err != nil {
		return err
	}
	bar.Describe("features")
	digits, err := data.In(ctx, o.opened, bar)
	bar.Close()
	if err != nil {
		return err
	}
	// Each client, or each record of a site, gets its share of the training images, and they take part in turn.
	n, order := cmp.Or(run.Records, run.Clients), o.seed.Order().Perm(digits.Train.Len())
	clients, err := trainer.NewClientsInOrder(digits.Train.All(), o.Liars.Labels(digits.Train.Labels, n, data.Train.Classes, order), n, order)
	if err != nil {
		return err
	}
	f := &federation{run: run, model: model, clients: clients, seed: o.seed, bar: bar, live: o.live, liars: o.Liars}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.start(ctx, o.Site(o.dashboard.Address, o.request.Delta, std.Err)); err != nil {
		return err
	}
	pictures, labels := digits.Test.All(), digits.Test.Labels
	if s.FeatureMean, err = f.centre(ctx, o.first, digits.Train.All(), pictures, o.check.X); err != nil {
		return err
	}
	if f.held > 0 && !o.live {
		fmt.Fprintf(std.Out, "round 1 of %d: the features' mean\n", run.Affordable)
	}
	test, err := model.NewEvaluator(min(500, len(labels)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, test.Close()) }()
	var live func(string)
	if o.live { // the bar is below it, and is erased
		live = func(accuracy string) { f.shown = accuracy }
	}
	s.Outcome, err = training.Config{
		Run: run, Rounds: f, Held: f.held, Suspects: f.suspects, First: o.first, Measure: history.Accuracy, Live: live, Bytes: f.bytes.Load, Check: o.check,
		Bare:     &training.Bare{Model: model, X: digits.Train.All(), Labels: digits.Train.Labels, PerRound: digits.Train.Len() / run.Clients * run.Cohort, Steps: o.bare},
		Evaluate: func(params []float64) (float64, float64, error) { return test.Evaluate(params, pictures, labels) },
		Show: func(p trainer.Progress, before, accuracy, loss float64) error {
			return parties.Publish(ctx, f, p, accuracy, loss, parties.Tested{Images: len(labels), Classes: data.Test.Classes, Before: before, Held: f.held}, &o.Flags)
		},
	}.Train(ctx, std.Out)
	if s.Outcome != nil && err == nil && s.Bare != nil {
		err = parties.PublishWithoutPrivacy(ctx, f, *s.Bare)
	}
	if s.Outcome != nil && err == nil {
		s.Guesses, err = curious.Labels(run, model, o.first, data.Test.Classes, curious.Examples{X: o.check.X, Labels: o.check.Labels}, curious.Examples{X: pictures, Labels: labels},
			func(report int) *rand.Rand { return o.seed.Client(-1 - report) })
	}
	if s.Outcome != nil {
		err = errors.Join(o.finish(context.WithoutCancel(ctx), &s, model, std.Out), err)
	}
	if err == nil {
		o.dashboard.Stay(ctx, std.Err)
	}
	return err
}

// printStart writes what is trained, on what, and how.
func (o options) printStart(ctx context.Context, w io.Writer, model *trainer.Model, run *plan.Run, s summary, note string) (err error) {
	say := func(about string, text ...string) { err = cmp.Or(err, plan.Words{About: about, Text: text}.Print(w)) }
	say("data", note)
	if o.live { // what fits a terminal together with the end
		promise, err := run.Promise(ctx, run.Affordable)
		if err != nil {
			return err
		}
		return plan.Words{About: "trusted", Text: []string{fmt.Sprintf("%s: %v, %d rounds of %d %ss", run.Trust, promise, run.Affordable, run.Cohort, run.Unit)}}.Print(w)
	}
	say("model", fmt.Sprintf("%s, %d parameters, simulated on %d cores", o.model, model.Dim(), runtime.GOMAXPROCS(0)))
	say("features", fmt.Sprintf("%s: %v", o.features, o.opened))
	if s.ZeroShot != nil {
		say("zero-shot accuracy", fmt.Sprintf("%.4f", *s.ZeroShot), "The features' public network has it before any client takes part.")
	}
	if o.choice != nil && o.explain {
		fmt.Fprintln(w)
		err = cmp.Or(err, o.choice.Explain(w))
	}
	return cmp.Or(err, run.PrintStart(w, o.explain))
}
