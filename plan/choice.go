package plan

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/fl"
)

// Choice is which features suit a request, by what was measured on public pictures. Nothing of the
// clients' data is in it.
type Choice struct {
	// Public are the kinds of public pictures that decided.
	Public []string
	// Considered are the features that were compared, the chosen ones first.
	Considered []Candidate
}

// Candidate is a task and what to expect of it.
type Candidate struct {
	Task
	// Noise is the noise of a coordinate of a round's mean, in units of the gradient. In a run of another
	// number of rounds than the measured ones it is the noise of a measured run with the same noise in the mean
	// of all rounds.
	Noise float64
	// Accuracy is the measured runs' accuracy at this noise, on each kind of public pictures. Beyond the
	// measured range it is the nearest run's accuracy.
	Accuracy []float64
	// Loss is how far it is below the best features on the kind where that is farthest.
	Loss float64
}

// PublicPictures returns the kinds of public pictures on which accuracy was measured, sorted.
func PublicPictures() ([]string, error) {
	curves, err := measured()
	var kinds []string
	for _, c := range curves {
		if !slices.Contains(kinds, c.public) {
			kinds = append(kinds, c.public)
		}
	}
	return kinds, err
}

// ParsePublic reads kinds of public pictures between commas, each once; an empty list is all of them.
func ParsePublic(list string) ([]string, error) {
	known, err := PublicPictures()
	if err != nil || list == "" {
		return known, err
	}
	var out []string
	for kind := range strings.SplitSeq(list, ",") {
		kind = strings.TrimSpace(kind)
		if !slices.Contains(known, kind) || slices.Contains(out, kind) {
			return nil, fl.Invalid("-public", kind, "must be among %s, each once", strings.Join(known, ", "))
		}
		out = append(out, kind)
	}
	return out, nil
}

// ChooseFeatures plans the request for every task that was measured on all of these kinds of public pictures,
// and chooses the features whose Loss is smallest.
//
// The request's Dim, L1, L2 and Centred have no effect. Its mechanism must be one that can be planned,
// or "none". Cost: Run's, for each task.
func (q Request) ChooseFeatures(ctx context.Context, public []string) (*Choice, error) {
	if IsSum(q.Mechanism) {
		return nil, fmt.Errorf("plan: %w", fl.Invalid("mechanism", q.Mechanism, "must be one whose noise is planned: no accuracy of sums was measured"))
	}
	curves, err := measured()
	if err != nil {
		return nil, err
	}
	choice := &Choice{Public: public}
	for _, first := range curves {
		if len(public) == 0 || first.public != public[0] {
			continue
		}
		c := Candidate{Task: first.Task}
		for _, kind := range public {
			if i := slices.IndexFunc(curves, func(c curve) bool { return c.public == kind && c.Features == first.Features }); i >= 0 {
				if c.Noise == 0 && q.Mechanism != dense.Name {
					if c.Noise, err = q.noise(ctx, first); err != nil {
						return nil, err
					}
				}
				c.Accuracy = append(c.Accuracy, curves[i].near(c.Noise))
			}
		}
		if len(c.Accuracy) == len(public) {
			choice.Considered = append(choice.Considered, c)
		}
	}
	if len(choice.Considered) == 0 {
		return nil, fmt.Errorf("plan: %w", fl.Invalid("public", strings.Join(public, ","), "must be kinds on which the same features were measured"))
	}
	choice.order()
	return choice, nil
}

// noise plans the request for the task of a curve.
func (q Request) noise(ctx context.Context, c curve) (float64, error) {
	run, err := c.Of(q).Run(ctx)
	if err != nil {
		return 0, err
	}
	return run.Schedule.Noise * math.Sqrt(float64(c.rows[0].Rounds)/float64(run.Rounds)), nil
}

// order computes the losses and sorts by them.
func (c *Choice) order() {
	for k := range c.Public {
		best := 0.
		for _, one := range c.Considered {
			best = max(best, one.Accuracy[k])
		}
		for i := range c.Considered {
			one := &c.Considered[i]
			one.Loss = max(one.Loss, best-one.Accuracy[k])
		}
	}
	slices.SortStableFunc(c.Considered, func(a, b Candidate) int { return cmp.Compare(a.Loss, b.Loss) })
}

// Explain writes what was compared.
func (c *Choice) Explain(w io.Writer) error {
	if err := paragraphs(w, `features: accuracies that were measured on public pictures, at the noise of this plan. No client's picture is
among them. The best have the smallest loss: on the kind where they are farthest below the best features.`); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  features\tweights\tnoise of a round\t%s\tloss\n", strings.Join(c.Public, "\t"))
	for _, one := range c.Considered {
		fmt.Fprintf(table, "  %s\t%d\t%.3g\t", one.Features, one.Dim, one.Noise)
		for _, accuracy := range one.Accuracy {
			fmt.Fprintf(table, "%.3f\t", accuracy)
		}
		fmt.Fprintf(table, "%.3f\n", one.Loss)
	}
	fmt.Fprintln(table)
	return table.Flush()
}
