package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"github.com/hushgrad/hushgrad/internal/prefix"
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

// Kinds of public pictures beside Textures: generated digits, and characters of the Go fonts.
const (
	Digits  = "digits"
	Letters = "letters"
)

// Kinds are the kinds of public pictures that a task with a number of classes is planned on, the first one unless another is asked for. Digits and
// textures have ten classes, of which fewer are drawn for fewer.
func Kinds(classes int) []string {
	if classes > digitClasses {
		return []string{Letters}
	}
	return []string{Digits, Textures}
}

// ParseKinds reads kinds of public pictures between commas, each once, for a number of classes; an empty list is Kinds. Letters are there for any number.
func ParseKinds(list string, classes int) (out []string, err error) {
	if classes < leastClasses || classes > mostClasses {
		return nil, fl.Invalid("--classes", classes, "must be in [%d, %d]", leastClasses, mostClasses)
	}
	kinds := Kinds(classes)
	if list == "" {
		return kinds, nil
	}
	if kinds[0] != Letters {
		kinds = append(kinds, Letters)
	}
	for kind := range strings.SplitSeq(list, ",") {
		kind = strings.TrimSpace(kind)
		if !slices.Contains(kinds, kind) || slices.Contains(out, kind) {
			return nil, fl.Invalid("--public", kind, "must be among %s, each once, with --classes %d", strings.Join(kinds, ", "), classes)
		}
		out = append(out, kind)
	}
	return out, nil
}

// SameLabels says whether class i of public pictures of a kind is what a label i says where clients' pictures are digits, or letters: 0 to 9, or the 26
// letters. What compares clients with public pictures needs it.
func SameLabels(kind string, classes int) bool {
	return kind == Digits || kind == Letters && classes == LetterClasses
}

// Knowing returns features like f whose public network, where they have one, tells digits apart for ten classes, and letters for 26. It is nil where no
// network knows so many classes.
func Knowing(f features.Features, classes int) (features.Features, error) {
	switch classes {
	case digitClasses:
		for name := range added {
			if other, opened := openedFeatures.Load(name); opened && other.(features.Features).Digest() == f.Digest() {
				return nil, nil
			}
		}
		return f, nil
	case LetterClasses:
		for _, size := range []string{features.GlyphsSmall, features.GlyphsBig} {
			if of, err := features.GlyphsOfLetters(size); err != nil || of.Digest() == f.Digest() {
				return of, err
			}
		}
	}
	return nil, nil
}

// ZeroShot is features.ZeroShot of what Knowing returns for the pictures' classes.
func ZeroShot(ctx context.Context, f features.Features, s *Set, p features.Progress) (accuracy float64, known bool, err error) {
	knowing, err := Knowing(f, s.Classes)
	if err != nil || knowing == nil {
		return 0, false, err
	}
	return features.ZeroShot(ctx, knowing, s.All(), s.Labels, p)
}

// lawOf is how pictures of a kind are drawn.
func lawOf(kind string, classes int) (law, error) {
	switch kind {
	case Textures:
		return textures(classes), nil
	case Letters:
		return letters(classes)
	}
	outlines, err := glyph.Digits()
	if err != nil {
		return law{}, fmt.Errorf("fonts: %w", err)
	}
	return digits(outlines[:classes]), nil
}

// drawn are the results of NewPublic. The pictures depend on nothing else.
var drawn sync.Map

// NewPublic draws n pictures of a kind in a number of classes and learns from them about softmax regression on features. kind and classes are
// as in ParseKinds. A process draws the same pictures once, and nobody may change them. p may be nil. Errors are features.All's, and ctx's.
func NewPublic(ctx context.Context, kind string, classes int, f features.Features, n int, p features.Progress) (*Public, error) {
	key := struct {
		kind    string
		classes int
		f       [32]byte
		n       int
	}{kind, classes, f.Digest(), n}
	if known, ok := drawn.Load(key); ok {
		return known.(*Public), nil
	}
	out, err := drawPublic(ctx, kind, classes, f, n, p)
	if err == nil {
		drawn.Store(key, out)
	}
	return out, err
}

func drawPublic(ctx context.Context, kind string, classes int, f features.Features, n int, p features.Progress) (_ *Public, err error) {
	defer prefix.Error(&err, "dataset")
	l, err := lawOf(kind, classes)
	if err != nil {
		return nil, err
	}
	data, err := drawBoth(ctx, Options{TrainSize: n, TestSize: 1, Seed: publicSeed}, l, "")
	if err != nil {
		return nil, err
	}
	pictures := data.Train
	if data, err = data.In(ctx, f, p); err != nil {
		return nil, err
	}
	d := data.Train
	out := &Public{X: d.All(), Labels: d.Labels, Rows: d.Rows, Cols: d.Cols, Centred: features.Centred(f)}
	if err := out.sample(d.Classes); err != nil || !SameLabels(kind, classes) {
		return out, err
	}
	knowing, err := Knowing(f, classes)
	if err != nil || knowing == nil {
		return out, err
	}
	some := min(n, ToPlan)
	var known bool
	if out.First, known, err = features.FirstModel(ctx, knowing, pictures.All()[:some], nil); err != nil || !known {
		return out, err
	}
	out.ZeroShot, _, err = features.ZeroShot(ctx, knowing, pictures.All()[:some], pictures.Labels[:some], nil)
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
	r.Dim, r.Centred, r.Centre = p.Examples.Dim(), p.Centred, p.Centred && p.First == nil
	r.L1, r.L2 = p.Sample.Norms()
	r.Public, r.Examples, r.ZeroShot, r.First = p.Sample, p.Examples, p.ZeroShot, p.First
}
