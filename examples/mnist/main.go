// Command mnist trains a classifier of handwritten digits under differential privacy. Use it
// to see federated learning at work: a parameter server and simulated clients, which talk real
// gRPC over loopback ports. Start with the first of these:
//
//	go run ./examples/mnist                       # planned for a central ε of 1, on generated digits
//	go run ./examples/mnist -dashboard            # the same, watched in a browser
//	go run ./examples/mnist -explain -budget 0.25 # for 0.25, and why so
//	go run ./examples/mnist -epsilon 5 -cohort 2000 # one report of local ε = 5 per client
//	go run ./examples/mnist -mechanism none       # without privacy
//	go run ./examples/mnist -data download        # MNIST from the cache or the network
//	go run ./examples/mnist -data DIR -out out    # your MNIST files, results in out
//	go run ./examples/mnist -data DIR -features auto # pictures of another kind in files like MNIST's
//	go run ./examples/mnist -roles 3 -clients 2000 -cohort 2000 -rounds 5 # issuer, shuffler and aggregator apart
//
// Every client holds one image (or a few), and sends one report of a few bytes in each
// round in which it takes part. The server never sees a gradient.
//
// Read on below: the run from top to bottom. A round and its clients are in federation.go, the server in
// oneprocess.go, the parties of -roles 3 in threeparties.go, and the flags in options.go.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/history"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

func main() { command.Main("mnist", mnist) }

// mnist plans a run, loads the data and trains.
func mnist(ctx context.Context, args []string, std command.Streams) error {
	o, err := parse(args, std.Out)
	if err != nil {
		return err
	}
	if err := cmp.Or(history.Prepare(o.out), o.dashboard.check()); err != nil {
		return err
	}
	fmt.Fprintln(std.Err, "planning the run from public numbers")
	bar := progress.New(std.Err)
	bar.Describe("planning")
	o.request.Progress = bar
	model, run, err := o.plan(ctx) // opens the features, too
	bar.Close()
	if err != nil {
		return err
	}
	data, err := dataset.Load(ctx, dataset.Options{Source: o.data, Seed: uint64(o.seed), Log: std.Err})
	if err != nil {
		return err
	}
	return o.train(ctx, model, run, data, std)
}

// train is the whole run: a model, a plan and images become a better model. An interrupt
// ends it with the rounds so far.
func (o options) train(ctx context.Context, model *trainer.Model, run *plan.Run, data *dataset.Data, std command.Streams) (err error) {
	s := summary{Run: run, Data: data.Source, Model: o.model, Features: o.features, Roles: o.roles}
	bar := progress.New(std.Err)
	if s.ZeroShot, err = o.zeroShot(ctx, data.Test, bar); err != nil {
		return err
	}
	about := []plan.Words{
		{About: "data", Text: []string{data.Note}},
		{About: "model", Text: []string{fmt.Sprintf("%s, %d parameters, simulated on %d cores", o.model, model.Dim(), runtime.GOMAXPROCS(0))}},
		{About: "features", Text: []string{fmt.Sprintf("%s: %v", o.features, o.opened)}},
	}
	if s.ZeroShot != nil {
		about = append(about, plan.Words{About: "zero-shot accuracy", Text: []string{
			fmt.Sprintf("%.4f", *s.ZeroShot), "The features' public network has it before any client takes part.",
		}})
	}
	for _, words := range about {
		if err := words.Print(std.Out); err != nil {
			return err
		}
	}
	if o.choice != nil && o.explain {
		fmt.Fprintln(std.Out)
		if err := o.choice.Explain(std.Out); err != nil {
			return err
		}
	}
	if err := run.PrintStart(std.Out, o.explain); err != nil {
		return err
	}
	bar.Describe("features")
	digits, err := data.In(ctx, o.opened, bar)
	bar.Close()
	if err != nil {
		return err
	}
	// Each client gets its share of the training images, and they take part in turn.
	clients, err := trainer.NewClients(digits.Train.All(), digits.Train.Labels, run.Clients, o.seed.Order())
	if err != nil {
		return err
	}
	f := &federation{run: run, model: model, clients: clients, seed: o.seed, bar: bar, site: o.site(run, std.Err)}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.start(ctx); err != nil {
		return err
	}

	// The model is measured after each round, on test images that no client holds.
	test, err := model.NewEvaluator(min(500, digits.Test.Len()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, test.Close()) }()
	rounds, err := history.New(std.Out, history.Accuracy)
	if err != nil {
		return err
	}
	var trained []float64
	began := time.Now()
	_, err = trainer.Run(ctx, f, model.Init(o.seed.Init()), trainer.RunConfig{
		Rounds: run.Affordable, // what all rounds cost together is known beforehand
		Steps:  trainer.Momentum(run.LearningRate, run.Momentum, run.Averaging),
		After: func(p trainer.Progress) error {
			accuracy, loss, err := test.Evaluate(p.Average, digits.Test.All(), digits.Test.Labels)
			promise, failed := run.Promise(ctx, p.Round+1)
			if err := errors.Join(err, failed); err != nil {
				return err
			}
			if err := f.publish(ctx, p, accuracy, loss, digits.Test.Len()); err != nil {
				return err
			}
			seconds := time.Since(began).Seconds() - s.Seconds
			s.Seconds, s.Trained, trained = s.Seconds+seconds, p.Round+1, slices.Clone(p.Average)
			return rounds.Add(history.Round{
				Round: p.Round + 1, Score: accuracy, Loss: loss, Reports: p.Estimate.Reports, Bytes: f.bytes.Swap(0),
				EpsilonLocal: promise.LocalTotal, EpsilonCentral: promise.Central, Seconds: seconds,
			})
		},
	})
	if s.Interrupted = err != nil && ctx.Err() != nil; s.Interrupted {
		err = ctx.Err() // whatever was under way when it ended
	}
	if s.TestAccuracy, s.BytesPerReport = rounds.Score(), rounds.BytesPerReport(); err == nil || s.Interrupted && s.Trained > 0 {
		err = errors.Join(o.finish(context.WithoutCancel(ctx), &s, rounds, model, trained, std.Out), err)
	}
	if err == nil {
		o.dashboard.stay(ctx, std.Err)
	}
	return err
}

// finish prints and writes what a run led to.
func (o options) finish(ctx context.Context, s *summary, rounds *history.History, model *trainer.Model, trained []float64, w io.Writer) (err error) {
	reported := s.Trained
	fmt.Fprintln(w)
	if s.Interrupted { // clients may have reported for the round that did not end
		reported = min(reported+1, s.Affordable)
		fmt.Fprintf(w, "interrupted        after %d of %d rounds\n", s.Trained, s.Affordable)
	}
	fmt.Fprintf(w, "test accuracy      %.4f  (%s pictures, %.1f s%s)\n", s.TestAccuracy, s.Data, s.Seconds, s.before("; zero-shot %.4f"))
	if s.Promise, err = s.PrintEnd(ctx, w, reported); err != nil {
		return err
	}
	switch {
	case s.Central == nil: // nothing that shuffling could change
	case o.roles == threeRoles:
		err = printParties(w, s.Promise, s.Cohort)
	default:
		err = plan.Words{Text: []string{"Nothing in this demo shuffles: it does not hold against the demo's server."}}.Print(w)
	}
	if err != nil {
		return err
	}
	if err := rounds.PrintUpload(w, s.Dim); err != nil || o.out == "" {
		return err
	}
	title := fmt.Sprintf("%s on %s pictures, %s, %v%s", s.Model, s.Data, s.Mechanism, s.Promise, s.before(", %.3f before any client took part"))
	if err := rounds.Write(o.out, title, s); err != nil {
		return err
	}
	if err := trainer.Save(filepath.Join(o.out, "model.npy"), model, trained); err != nil {
		return err
	}
	return plan.Words{About: "results", Text: []string{o.out + ": history.csv, summary.json, accuracy.png, model.npy"}}.Print(w)
}

// compares says whether -explain shows what other features would bring: where all of them can be planned
// as the flags say.
func (o options) compares() bool {
	q := o.request
	return o.explain && o.model == "softmax" && !plan.IsSum(q.Mechanism) && q.Sparsity == 0 && q.Clip == 0
}

// networkRate is a learning rate at which networks with hidden units still learn: unlike
// softmax regression's loss, their loss is not convex.
const networkRate = 2

// zeroShot returns the accuracy of what the features know without any client, nil where they
// know no classes.
func (o options) zeroShot(ctx context.Context, test *dataset.Set, bar *progress.Bar) (*float64, error) {
	bar.Describe("zero-shot")
	defer bar.Close()
	accuracy, known, err := features.ZeroShot(ctx, o.opened, test.All(), test.Labels, bar)
	if !known {
		return nil, err
	}
	return &accuracy, err
}

// plan decides what the flags leave open, before any client takes part and from public
// numbers only: the features, the size of the model, the number of clients, the budget, and the norms of
// gradients on generated digits, which nobody wrote. It opens the features first.
func (o *options) plan(ctx context.Context) (*trainer.Model, *plan.Run, error) {
	var err error
	if auto := o.features == plan.AutoFeatures; auto || o.compares() {
		var bad *fl.ParamError
		if o.choice, err = o.request.ChooseFeatures(ctx, o.public); err != nil && (auto || !errors.As(err, &bad)) {
			return nil, nil, err
		}
		if auto {
			o.features = o.choice.Considered[0].Features
		}
	}
	if o.opened, err = dataset.OpenFeatures(ctx, o.features, o.request.Progress); err != nil {
		return nil, nil, err
	}
	if _, picture := o.opened.(features.Picture); o.model == "cnn" && !picture {
		return nil, nil, fl.Invalid("-features", o.features, "must be a picture for -model %s, like %s", o.model, dataset.Grey)
	}
	digits, err := dataset.Generate(ctx, dataset.Options{TrainSize: 256, TestSize: 1, Seed: 1})
	if err != nil {
		return nil, nil, err
	}
	if digits, err = digits.In(ctx, o.opened, nil); err != nil {
		return nil, nil, err
	}
	d := digits.Train
	model, err := trainer.NewModel(o.model, trainer.Input{Channels: 1, Height: d.Rows, Width: d.Cols}, d.Classes)
	if err != nil {
		return nil, nil, err
	}
	r := *o.request
	r.Seed = uint64(o.seed)
	r.Centred = features.Centred(o.opened)
	if r.Dim = model.Dim(); o.model != "softmax" {
		r.MaxLearningRate = networkRate
	}
	if r.L1, r.L2, err = trainer.GradientNorms(model, model.Init(o.seed.Init()), d.All(), d.Labels); err != nil {
		return nil, nil, err
	}
	run, err := r.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	run.Template.Features = features.ID(o.features, o.opened)
	return model, run, nil
}

// summary is what a run led to: summary.json.
type summary struct {
	TestAccuracy float64 `json:"test_accuracy"`
	*plan.Run
	plan.Promise
	Trained        int     `json:"rounds_trained"`
	Interrupted    bool    `json:"interrupted"`
	BytesPerReport float64 `json:"bytes_per_report"`
	Seconds        float64 `json:"seconds"`
	Data           string  `json:"data"`
	Model          string  `json:"model"`
	Features       string  `json:"features"`
	Roles          int     `json:"roles"`
	// ZeroShot is what the features know without any client, null where they know no classes.
	ZeroShot *float64 `json:"zero_shot_accuracy"`
}

// before returns the zero-shot accuracy in words, or nothing.
func (s *summary) before(format string) string {
	if s.ZeroShot == nil {
		return ""
	}
	return fmt.Sprintf(format, *s.ZeroShot)
}
