package main

import (
	"context"
	"fmt"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
)

// task asks what is trained: softmax regression on features of pictures, or something with norms of its own.
type task struct {
	flags            *flag.FlagSet
	features, public string
	perClient, dim   int
	classes          int
	l1, l2           float64
	centred          bool
}

func bindTask(f *flag.FlagSet) *task {
	t := &task{flags: f, features: dataset.DemoFeatures}
	command.OneOf(f, &t.features, "features", "", dataset.FeatureChoices(), "what the model sees of a picture, as for examples/mnist; "+dataset.AutoFeatures+": the best on public pictures; "+dataset.Formulas+": the best of those that no network was trained for")
	f.StringVar(&t.public, "public", "", "public pictures on which the run is rehearsed, "+dataset.Digits+", "+dataset.Textures+" or "+dataset.Letters+"; with --features "+dataset.AutoFeatures+" or "+dataset.Formulas+" a comma-separated `list` of the kinds that decide; empty: "+dataset.Digits+", or "+dataset.Letters+" for more than 10 --classes, or all kinds")
	f.IntVar(&t.classes, "classes", 10, "number of classes that the model tells apart, in [2, 1000]")
	f.IntVar(&t.perClient, "per-client", 0, "pictures that a client holds; 0: its share of 60000, as in examples/mnist, and at least one")
	f.IntVar(&t.dim, "dim", 0, "coordinates of a gradient, d, together with --l1 and --l2; 0: the coordinates of softmax regression on --features")
	f.Float64Var(&t.l1, "l1", 0, "L1 norm of a gradient at the first model, from public data; needs --dim; 0: the norm with --features")
	f.Float64Var(&t.l2, "l2", 0, "L2 norm of a gradient at the first model, from public data; needs --dim; 0: the norm with --features")
	f.BoolVar(&t.centred, "centred", false, "with --dim: examples have one norm around a public centre")
	return t
}

// validate refuses a gradient of one's own that is not described whole: its error follows from its norms.
func (t *task) validate() error {
	own := t.dim > 0
	switch {
	case t.dim < 0:
		return fl.Invalid("--dim", t.dim, "must be at least 1, or 0 for the coordinates of softmax regression on --features")
	case t.perClient < 0 || t.perClient > fl.MaxReports:
		return fl.Invalid("--per-client", t.perClient, "must be in [0, %d]", fl.MaxReports)
	case own && (t.l1 == 0 || t.l2 == 0):
		return fl.Invalid("--dim", t.dim, "needs --l1 and --l2: the mean L1 and L2 norms of a gradient of this model, on public data. The norms with --features are of another model, and go run ./examples/tabular --explain plans a table's")
	case !own && (t.l1 != 0 || t.l2 != 0):
		return fl.Invalid("--l1 and --l2", fmt.Sprintf("%g and %g", t.l1, t.l2), "need --dim: norms are of gradients of one length")
	case own:
		return command.Unused(t.flags, "with --dim: nothing is known of the task beside its norms", "features", "public", "classes", "per-client", "quick")
	}
	return nil
}

// words say which model is planned, as the flags name it.
func (t *task) words(dim int) plan.Words {
	text := fmt.Sprintf("softmax regression with %d weights: pictures of %d classes, with --features %s", dim, t.classes, t.features)
	if t.dim > 0 {
		text = fmt.Sprintf("one of your own with %d weights, whose gradients have the L1 norm %g and the L2 norm %g", dim, t.l1, t.l2)
	}
	return plan.Words{About: "model", Text: []string{text}}
}

// of returns the request for the task, and the choice of features where there was one.
func (t *task) of(ctx context.Context, q plan.Request, bar *progress.Bar) (plan.Request, *dataset.Choice, error) {
	if t.dim > 0 {
		q.Dim, q.L1, q.L2, q.Centred = t.dim, t.l1, t.l2, t.centred
		return q, nil, nil
	}
	kinds, err := dataset.ParseKinds(t.public, t.classes)
	if err != nil {
		return q, nil, err
	}
	if strings.Contains(t.public, ",") && dataset.Chosen(t.features) == nil {
		return q, nil, fl.Invalid("--public", t.public, "must be one kind without --features %s or %s", dataset.AutoFeatures, dataset.Formulas)
	}
	if q.PerClient = t.perClient; q.PerClient == 0 {
		q.PerClient = max(1, dataset.Pictures/max(1, q.Clients))
	}
	bar.Describe("features")
	_, f, choice, err := dataset.ChooseAndOpen(ctx, t.features, q, kinds, t.classes, bar)
	if err != nil {
		return q, nil, err
	}
	bar.Describe("public pictures")
	public, err := dataset.NewPublic(ctx, kinds[0], t.classes, f, dataset.ToRehearse, bar)
	if err != nil {
		return q, nil, err
	}
	public.Fill(&q)
	bar.Describe("planning")
	return q, choice, nil
}
