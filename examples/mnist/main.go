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
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/examples/internal/curious"
	"github.com/hushgrad/hushgrad/examples/internal/training"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	_ "github.com/hushgrad/hushgrad/examples/mnist/dataset/cloth" // adds features
	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
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
	if err := cmp.Or(history.Prepare("--out", o.out), o.dashboard.Check()); err != nil {
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
	f := &federation{run: run, model: model, clients: clients, seed: o.seed, bar: bar, shown: "clients", liars: o.Liars}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.start(ctx, o.Site(o.dashboard.Address, o.request.Delta, std.Err)); err != nil {
		return err
	}
	pictures, labels := digits.Test.All(), digits.Test.Labels
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
		Run: run, Rounds: f, First: o.first, Measure: history.Accuracy, Live: live, Bytes: f.bytes.Load, Check: o.check,
		Bare:     &training.Bare{Model: model, X: digits.Train.All(), Labels: digits.Train.Labels, PerRound: digits.Train.Len() / run.Clients * run.Cohort, Steps: o.bare},
		Evaluate: func(params []float64) (float64, float64, error) { return test.Evaluate(params, pictures, labels) },
		Show: func(p trainer.Progress, before, accuracy, loss float64) error {
			return parties.Publish(ctx, f, p, accuracy, loss, parties.Tested{Images: len(labels), Classes: data.Test.Classes, Before: before}, &o.Flags)
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

// Mean holds a round: publish the model, open the round, let the cohort take part, and read
// the estimate of its mean gradient.
func (f *federation) Mean(ctx context.Context, i int, params []float64) (*fl.Estimate, error) {
	var weights bytes.Buffer
	if err := trainer.WriteWeights(&weights, f.model, params); err != nil {
		return nil, err
	}
	if _, err := f.PutModel(ctx, trainer.WeightsFormat, weights.Bytes()); err != nil {
		return nil, err
	}
	round, err := f.OpenRound(ctx, f.run.Round(fmt.Sprintf("mnist-%03d", i+1), f.seed.PublicSeed(i)))
	if err != nil {
		return nil, err
	}
	f.bar.Describe(f.shown)
	f.bar.Grow(2 * f.run.Cohort) // each encodes and sends
	defer f.bar.Close()
	group, playing := errgroup.WithContext(ctx)
	for k, p := range f.players {
		n, all := f.run.Cohort, len(f.players)
		first, last := i*n+n*k/all, i*n+n*(k+1)/all
		group.Go(func() error { return f.play(playing, p, round.ID, first, last) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	// The round closes by itself when the whole cohort has reported.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return f.Estimate(ctx, round.ID, true)
}

// play is what the clients whose turns are first, …, last−1 do in a round: each joins it
// unless its policy forbids, fetches its token where the round asks for one, computes the gradient of its own images at the published
// model, and sends one randomized report. A site's report is of the sum of its records' gradients.
func (f *federation) play(ctx context.Context, p *player, round string, first, last int) error {
	part, err := p.client.Join(ctx, round)
	if err != nil || first == last {
		return err
	}
	published, err := p.client.Model(ctx)
	if err != nil {
		return err
	}
	params, err := trainer.ReadWeights(bytes.NewReader(published.Data), f.model)
	if err != nil {
		return err
	}
	parts, err := f.Admit(ctx, part, first, last-first)
	if err != nil {
		return err
	}
	var reports [][]byte
	keep := func(report []byte, err error) error {
		reports = append(reports, report)
		f.bar.Step()
		return err
	}
	if f.run.Records > 0 { // of a site, which clips each and adds noise to their sum
		err = trainer.EachSite(ctx, p.gradients, f.run.Clients, params, first, last, func(turn int, records iter.Seq[[]float64]) error {
			return keep(parts[turn-first].EncodeRecords(nil, records, f.seed.Client(turn)))
		})
	} else {
		layout := f.model.Layout()
		classes := layout[len(layout)-1].Shape[0]
		err = p.gradients.Each(ctx, params, first, last, func(turn int, grad []float64) error {
			if f.liars.Lies(turn % f.run.Clients) {
				return keep(f.liars.Report(parts[turn-first], grad, len(grad)-classes, f.seed.Client(turn)))
			}
			return keep(parts[turn-first].Encode(nil, grad, f.seed.Client(turn)))
		})
	}
	if err != nil {
		return err
	}
	sent, err := f.Send(ctx, parts, reports, f.bar.Step)
	f.bytes.Add(sent)
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
