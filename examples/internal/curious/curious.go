// Package curious guesses labels from single reports, as a server could that is curious. Use it to show what an ε means.
// Start with [Labels].
package curious

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// Examples are vectors with their labels.
type Examples struct {
	X      [][]float64
	Labels []int
}

// first returns the first n of the examples.
func (e Examples) first(n int) Examples {
	n = min(n, len(e.X))
	return Examples{e.X[:n], e.Labels[:n]}
}

// Guesses are what came out.
type Guesses struct {
	People int     `json:"people"`
	Right  float64 `json:"right"`          // share of the guesses from a report
	Blind  float64 `json:"without_report"` // share of the best guess without one: the commonest label
}

// most is how many people report, and how many public examples are learnt from. Long gradients are fewer, so that they have at most values numbers.
const (
	most   = 1000
	values = 1 << 22
)

// Labels has people report about one example each, in one round of a run at a model, and guesses the label from the report. They take no part in the
// run. The server knows the labels' shares and mean gradients from public examples. It guesses the label that is likeliest if what a report decodes to
// is a mean gradient, as far as the clip leaves it, and Gaussian noise: it finds out both from reports that it makes of the public examples. Labels
// returns nil where one report cannot be decoded alone: clients send shares, or sums of many records.
//
// Cost: a gradient, a report and an estimate for each person and each public example.
func Labels(run *plan.Run, model *trainer.Model, params []float64, classes int, public, people Examples, seed func(report int) *rand.Rand) (*Guesses, error) {
	if run.Opened.Guarantee().Trust != fl.Local || run.Records > 0 {
		return nil, nil
	}
	n := min(most, max(1, values/model.Dim()))
	public, people = public.first(n), people.first(n)
	round := run.Round("curious", [32]byte{1})
	round.MinReports, round.TargetReports = 1, 1
	_, mechanism, err := fl.Complete(round)
	if err != nil {
		return nil, err
	}
	reports := 0
	each := func(e Examples, visit func(label int, gradient, decoded []float64)) error {
		gradients, err := trainer.GradientSample(model, params, e.X, e.Labels)
		if err != nil {
			return err
		}
		var report []byte
		for i, g := range gradients {
			if report, err = mechanism.Encode(report[:0], g, seed(reports)); err != nil {
				return err
			}
			reports++
			sum := mechanism.NewAggregator()
			if err := sum.Add(report); err != nil {
				return err
			}
			estimate, err := sum.Estimate()
			if err != nil {
				return err
			}
			visit(e.Labels[i], g, estimate.Mean().Value)
		}
		return nil
	}
	mean, count := make([][]float64, classes), make([]float64, classes)
	for c := range mean {
		mean[c] = make([]float64, model.Dim())
	}
	var kept, whole, square float64 // products of decoded reports with gradients, and squares of both
	if err := each(public, func(label int, gradient, decoded []float64) {
		floats.Add(mean[label], gradient)
		count[label]++
		kept += floats.Dot(decoded, gradient)
		whole += floats.Dot(gradient, gradient)
		square += floats.Dot(decoded, decoded)
	}); err != nil {
		return nil, err
	}
	left := kept / whole                                                                      // what the clip leaves
	variance := max(square-left*left*whole, 1e-9*square) / float64(len(public.X)*model.Dim()) // a mechanism may add no noise
	for c := range mean {
		floats.Scale(left/max(1, count[c]), mean[c])
	}
	right, held, likely := 0., make([]float64, classes), make([]float64, classes)
	if err := each(people, func(label int, _, decoded []float64) {
		for c, m := range mean {
			likely[c] = (floats.Dot(m, decoded)-floats.Dot(m, m)/2)/variance + math.Log(count[c]/float64(len(public.X)))
		}
		if floats.MaxIdx(likely) == label {
			right++
		}
		held[label]++
	}); err != nil {
		return nil, err
	}
	return &Guesses{People: len(people.X), Right: right / float64(len(people.X)), Blind: slices.Max(held) / float64(len(people.X))}, nil
}

// Print writes what a curious server finds out. It writes nothing for nil.
func (g *Guesses) Print(w io.Writer, trust plan.Trust) error {
	if g == nil {
		return nil
	}
	text := []string{
		fmt.Sprintf("From one report it guesses the label of a client's example. Tried on %d more simulated clients, it is right for %.1f %%.", g.People, 100*g.Right),
		fmt.Sprintf("Without a report it names the commonest label, and is right for %.1f %%.", 100*g.Blind),
		"Other attacks may find more, up to what ε allows.",
	}
	if trust == plan.Shuffler {
		text = []string{
			fmt.Sprintf("An honest shuffler hides whose a report is. This attack then names the commonest label, and is right for %.1f %% of %d more simulated clients.", 100*g.Blind, g.People),
			fmt.Sprintf("Together with the shuffler it guesses the label from one report, and is right for %.1f %%, and for more from all reports of a client.", 100*g.Right),
		}
	}
	return plan.Words{About: "curious server", Text: text}.Print(w)
}
