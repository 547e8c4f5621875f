package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// Public is what generated pictures tell before any client takes part. Nobody wrote them or wore what they show, so it costs no
// privacy.
type Public struct {
	// X are the pictures in the features, and Labels their classes.
	X      [][]float64
	Labels []int
	// Rows and Cols are as in Set.
	Rows, Cols int
	Centred    bool // see features.Centred
	// Examples are X and Labels for softmax regression, and Sample their gradients at a model of zeros.
	Examples *plan.Examples
	Sample   *plan.Sample
	// First is the model that the features' public network knows, and ZeroShot its accuracy on the pictures. They are nil
	// and 0 where the features have no such network, and for kinds of pictures that it was not trained for.
	First    []float64
	ZeroShot float64
}

// How many pictures NewPublic draws: those that are enough to plan a run, and those on which a run can be rehearsed.
const (
	ToPlan     = 320
	ToRehearse = 6000
)

// Digits is the kind of public pictures that are generated digits. The other is Textures.
const Digits = "digits"

// Kinds are the kinds of public pictures.
func Kinds() []string { return []string{Digits, Textures} }

// ParseKinds reads kinds of public pictures between commas, each once; an empty list is all of them.
func ParseKinds(list string) (out []string, err error) {
	if list == "" {
		return Kinds(), nil
	}
	for kind := range strings.SplitSeq(list, ",") {
		kind = strings.TrimSpace(kind)
		if !slices.Contains(Kinds(), kind) || slices.Contains(out, kind) {
			return nil, fl.Invalid("--public", kind, "must be among %s, each once", strings.Join(Kinds(), ", "))
		}
		out = append(out, kind)
	}
	return out, nil
}

// drawn are the results of NewPublic. The pictures depend on nothing else.
var drawn sync.Map

// NewPublic draws n pictures of a kind and learns from them about softmax regression on features. A process draws the same
// pictures once, and nobody may change them. p may be nil. Errors are features.All's, and ctx's.
func NewPublic(ctx context.Context, kind string, f features.Features, n int, p features.Progress) (*Public, error) {
	key := struct {
		kind string
		f    [32]byte
		n    int
	}{kind, f.Digest(), n}
	if known, ok := drawn.Load(key); ok {
		return known.(*Public), nil
	}
	out, err := drawPublic(ctx, kind, f, n, p)
	if err == nil {
		drawn.Store(key, out)
	}
	return out, err
}

func drawPublic(ctx context.Context, kind string, f features.Features, n int, p features.Progress) (*Public, error) {
	o := Options{Source: kind, TrainSize: n, TestSize: 1, Seed: publicSeed}
	if kind == Digits {
		o.Source = Generated
	}
	data, err := Load(ctx, o)
	if err != nil {
		return nil, err
	}
	pictures := data.Train
	if data, err = data.In(ctx, f, p); err != nil {
		return nil, err
	}
	d := data.Train
	out := &Public{X: d.All(), Labels: d.Labels, Rows: d.Rows, Cols: d.Cols, Centred: features.Centred(f)}
	if err := out.sample(d.Classes); err != nil || kind != Digits {
		return out, err
	}
	some := min(n, ToPlan)
	var known bool
	if out.First, known, err = features.FirstModel(ctx, f, pictures.All()[:some], nil); err != nil || !known {
		return out, err
	}
	out.ZeroShot, _, err = features.ZeroShot(ctx, f, pictures.All()[:some], pictures.Labels[:some], nil)
	return out, err
}

// sample computes what follows from the pictures and their classes.
func (p *Public) sample(classes int) (err error) {
	if p.Examples, err = plan.NewExamples(p.X, p.Labels, classes); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	p.Examples = p.Examples.Named("generated pictures")
	p.Sample, err = p.Examples.Sample()
	return err
}

// keep returns the pictures along the first k components of their features, whose vectors have the norm 1/bias.
func (p *Public) keep(k int) (*Public, error) {
	kept := &Public{Labels: p.Labels, Rows: 1, Cols: k, Centred: p.Centred}
	for _, x := range p.X {
		x = slices.Clone(x[:k])
		if norm := floats.Norm(x, 2); norm > 0 {
			floats.Scale(1/(bias*norm), x)
		}
		kept.X = append(kept.X, x)
	}
	return kept, kept.sample(p.Examples.Dim() / (len(p.X[0]) + 1))
}

// Fill tells a request about softmax regression what is public about the task, and what to rehearse it on. The run starts from the
// public model where there is one.
func (p *Public) Fill(r *plan.Request) {
	r.Dim, r.Centred = p.Examples.Dim(), p.Centred
	r.L1, r.L2 = p.Sample.Norms()
	r.Public, r.Examples, r.ZeroShot, r.First = p.Sample, p.Examples, p.ZeroShot, p.First
}
