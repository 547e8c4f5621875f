package dataset

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// The features that examples/mnist uses for pictures that are not generated, and the names that leave features to Choose: all, or those in which
// nothing was learnt from public pictures but means and directions.
const (
	DemoFeatures = "glyphs"
	AutoFeatures = "auto"
	Formulas     = "formulas"
)

// Choice is which features suit a request, by rehearsals on public pictures. Nothing of the clients' data is in it.
type Choice struct {
	// Kinds are the kinds of public pictures that decided.
	Kinds []string
	// Considered are the features that were compared, the chosen ones first.
	Considered []Candidate
}

// Candidate is features and what to expect of them.
type Candidate struct {
	Features string
	Dim      int // parameters of softmax regression
	// Expected is of the run on each kind of public pictures.
	Expected []plan.Expected
	// Loss is how far their accuracy is below the best features on the kind where that is farthest.
	Loss float64
}

// Chosen returns the names of features that Choose compares for a name that leaves the features to it, and nothing for others.
func Chosen(name string) []string {
	formulas := []string{Edges, EdgesCentred, "scatter", scatterLog + "-50", scatterLog, scatterLog + "-200"}
	switch name {
	case Formulas:
		return formulas
	case AutoFeatures:
		return append(formulas, "glyphs", "glyphs-big")
	}
	return nil
}

// toCompare is how many pictures Choose draws of each kind.
const toCompare = 2500

// Choose rehearses the request with each of the named features on each kind of public pictures, and chooses the features whose Loss is
// smallest, for pictures in a number of classes. What Fill says has no effect on it: every run starts from zeros, since a public model that was trained on one kind says nothing of
// another. It takes some ten seconds for each kind, and up to a minute with a
// shuffler and many clients, whose runs have more rounds. p may be nil.
func Choose(ctx context.Context, names []string, q plan.Request, kinds []string, classes int, p features.Progress) (*Choice, error) {
	choice := &Choice{Kinds: kinds}
	for _, name := range names {
		f, err := OpenFeatures(ctx, name, p)
		if err != nil {
			return nil, err
		}
		c := Candidate{Features: name}
		for _, kind := range kinds {
			public, err := toRehearse(ctx, kind, classes, name, f, p)
			if err != nil {
				return nil, err
			}
			ask := q
			public.Fill(&ask)
			ask.ZeroShot, ask.First, ask.Centre, ask.Force = 0, nil, ask.Centred, true
			run, err := ask.Run(ctx)
			if err != nil {
				return nil, err
			}
			c.Dim, c.Expected = ask.Dim, append(c.Expected, *run.Expected)
		}
		choice.Considered = append(choice.Considered, c)
	}
	choice.order()
	return choice, nil
}

// toRehearse are public pictures in the features. The pictures in scatter-log's components are computed once, along most of them.
func toRehearse(ctx context.Context, kind string, classes int, name string, f features.Features, p features.Progress) (*Public, error) {
	widest := scatterLog + "-200"
	if !strings.HasPrefix(name, scatterLog) || name == widest {
		return NewPublic(ctx, kind, classes, f, toCompare, p)
	}
	all, err := OpenFeatures(ctx, widest, p)
	if err != nil {
		return nil, err
	}
	wide, err := NewPublic(ctx, kind, classes, all, toCompare, p)
	if err != nil {
		return nil, err
	}
	return wide.keep(f.Dim())
}

// ChooseAndOpen opens features by their name, and chooses them first where the name leaves them to Choose: see Chosen. The choice is nil
// where the name said it all. p may be nil.
func ChooseAndOpen(ctx context.Context, name string, q plan.Request, kinds []string, classes int, p features.Progress) (string, features.Features, *Choice, error) {
	var choice *Choice
	if names := Chosen(name); names != nil {
		var err error
		if choice, err = Choose(ctx, names, q, kinds, classes, p); err != nil {
			return "", nil, nil, err
		}
		name = choice.Considered[0].Features
	}
	f, err := OpenFeatures(ctx, name, p)
	return name, f, choice, err
}

// order computes the losses and sorts by them.
func (c *Choice) order() {
	for k := range c.Kinds {
		best := 0.
		for _, one := range c.Considered {
			best = max(best, one.Expected[k].Accuracy)
		}
		for i := range c.Considered {
			one := &c.Considered[i]
			one.Loss = max(one.Loss, best-one.Expected[k].Accuracy)
		}
	}
	slices.SortStableFunc(c.Considered, func(a, b Candidate) int { return cmp.Compare(a.Loss, b.Loss) })
}

// Explain writes what was compared.
func (c *Choice) Explain(w io.Writer) error {
	if _, err := fmt.Fprintln(w, `features: the accuracy of this plan in rehearsals on public pictures, from zeros. No client's picture is among
them. The best have the smallest loss: on the kind where they are farthest below the best features.`); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  features\tweights\t%s\tloss\n", strings.Join(c.Kinds, "\t"))
	for _, one := range c.Considered {
		fmt.Fprintf(table, "  %s\t%d\t", one.Features, one.Dim)
		for _, e := range one.Expected {
			fmt.Fprintf(table, "%.3f\t", e.Accuracy)
		}
		fmt.Fprintf(table, "%.3f\n", one.Loss)
	}
	fmt.Fprintln(table)
	return table.Flush()
}
