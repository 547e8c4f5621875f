package shufflesum

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func table4() experiment.Experiment {
	return experiment.Experiment{
		Name:   "table4",
		Title:  "Sums of images: relative error of HighDimSum",
		Source: paper + ", Table 4",
		Bind: func(f *flag.FlagSet) experiment.Run {
			return bindBudget(f, 5, runTable4)
		},
	}
}

// norm is U₂ of the paper.
const norm = 1 << 10

// The relative errors the paper prints, in percent.
const (
	paperHighDim = 6.45
	paperHLY     = 1540
	paperCentral = 0.328
)

// integerImages scales pixels so that an all-white image has L2 norm U₂, a public
// constant, and rounds them to integers.
func integerImages(set *dataset.Set) (images [][]int64, sum []float64) {
	scale := norm / math.Sqrt(float64(set.Dim()))
	sum = make([]float64, set.Dim())
	for i := range set.Len() {
		x := make([]int64, set.Dim())
		for j, pixel := range set.Image(i) {
			x[j] = int64(math.Round(scale * pixel))
			sum[j] += float64(x[j])
		}
		images = append(images, x)
	}
	return images, sum
}

// loadImages returns training and test images together, as the paper sums them: those of a
// directory, MNIST from the network where -data asks for it, or generated digits.
func loadImages(ctx context.Context, env experiment.Env) (images [][]int64, sum []float64, source string, err error) {
	options := dataset.Options{Source: env.Data, Seed: env.Seed}
	if env.Quick && env.Data == dataset.Generated {
		options.TrainSize, options.TestSize = 4000, 1000
	}
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, nil, "", err
	}
	images, sum = integerImages(data.Train)
	more, rest := integerImages(data.Test)
	floats.Add(sum, rest)
	return append(images, more...), sum, data.Note, nil
}

func runTable4(ctx context.Context, env experiment.Env, b budget) (*experiment.Result, error) {
	images, sum, source, err := loadImages(ctx, env)
	if err != nil {
		return nil, err
	}
	repeats := env.RepeatsOr(paperRepeats)
	if env.Quick {
		repeats = env.RepeatsOr(3)
	}
	relations := []fl.Relation{b.relation}
	if b.relation == fl.ZeroOut {
		relations = append(relations, fl.ReplaceOne) // the honest figure beside the paper's
	}
	r := &experiment.Result{
		Columns: []string{"mechanism", "relation", "composition", "error_percent", "messages_per_client", "bits_per_client", "error_percent_low", "error_percent_high"},
		Notes: []string{
			source,
			fmt.Sprintf("n = %d, d = %d, U₂ = %d, ε = %g, δ = %g, β = %g; %d repeats, the smallest and largest fifth dropped.", len(images), len(sum), norm, b.epsilon, paperDelta, paperBeta, repeats),
			"Error: L2 distance to the sum of the integer images, relative to its L2 norm.",
			fmt.Sprintf("Pixels are scaled by %d/√d, so that an all-white image has norm U₂, and rounded. The paper does not say how it scales them.", norm),
			"HLY and central DP are the paper's numbers.",
			intervals,
		},
	}
	env.Progress.Describe("table4")
	env.Progress.Grow(len(relations) * 2 * repeats)
	pictures := "images"
	if env.Data == "" {
		pictures = "generated digits"
	}
	panel := figure.Panel{Title: fmt.Sprintf("ε = %g, %d %s", b.epsilon, len(images), pictures), YLabel: "relative error of the sum, %", LogY: true}
	measured := figure.Series{Name: "measured", Style: figure.Points}
	theirs := figure.Series{Name: "the paper's, MNIST", Of: measured.Name, Y: []float64{paperHighDim, paperHLY, paperCentral}, Style: figure.Points}
	for i, relation := range relations {
		for k, composition := range []hdsum.Composition{hdsum.Paper, hdsum.Tight} {
			c := hdsum.HighDimConfig{
				Config: hdsum.Config{Clients: len(images), Epsilon: b.epsilon, Delta: paperDelta, Relation: relation},
				Dim:    len(sum), Norm: norm, Composition: composition, Beta: paperBeta,
			}
			o, err := runVectors(ctx, env, c, images, sum, repeats, uint64(i), uint64(k))
			if err != nil {
				return nil, err
			}
			e := o.relativeError
			r.Rows = append(r.Rows, experiment.Row{"HighDimSum", relation.String(), composition.String(), e.Value, o.messages.Value, o.bits, e.Low, e.High})
			measured.Add(float64(len(panel.Categories)), e.Value, e.Low, e.High)
			panel.Categories = append(panel.Categories, fmt.Sprintf("%s, %s composition", relation, composition))
			limit := map[hdsum.Composition]float64{hdsum.Paper: 6.5, hdsum.Tight: 3}[composition]
			if relation == fl.ZeroOut {
				r.Verdicts = append(r.Verdicts, experiment.Verdict{
					Claim:  fmt.Sprintf("HighDimSum's error with the %s composition is at most %g %% under zero-out (the paper: %g %%)", composition, limit, paperHighDim),
					Holds:  e.Value <= limit,
					Detail: fmt.Sprintf("%.3g %%", e.Value),
				})
			}
			r.Verdicts = append(r.Verdicts, experiment.Verdict{
				Claim:  fmt.Sprintf("HighDimSum (%s, %s) is more than 100 times more accurate than HLY", relation, composition),
				Holds:  100*e.Value < paperHLY,
				Detail: fmt.Sprintf("%.3g %% against %d %%", e.Value, paperHLY),
			})
		}
	}
	r.Rows = append(r.Rows,
		experiment.Row{"HighDimSum, paper", "zero-out", "paper", paperHighDim, nil, nil, nil, nil},
		experiment.Row{"HLY, paper", nil, nil, float64(paperHLY), nil, nil, nil, nil},
		experiment.Row{"central DP, paper", nil, nil, paperCentral, nil, nil, nil, nil})
	for _, name := range []string{"HighDimSum, zero-out", "HLY", "central DP"} {
		theirs.X = append(theirs.X, float64(len(panel.Categories)))
		panel.Categories = append(panel.Categories, name)
	}
	panel.Series = []figure.Series{measured, theirs}
	r.Plot = &figure.Figure{ErrorBars: experiment.ErrorBars, Panels: []figure.Panel{panel}}
	return r, nil
}

// runVectors measures HighDimSum, with fresh public signs in every repeat.
func runVectors(ctx context.Context, env experiment.Env, c hdsum.HighDimConfig, images [][]int64, sum []float64, repeats int, key ...uint64) (outcome, error) {
	size := floats.Norm(sum, 2)
	if size == 0 {
		return outcome{}, errors.New("all images are black")
	}
	misses, messages := make([]float64, repeats), make([]float64, repeats)
	var cost hdsum.Cost
	err := repeat(ctx, env, repeats, func(i int) error {
		rng := experiment.Stream(env.Seed, append([]uint64{4}, append(key, uint64(i))...)...)
		c := c
		for k := range c.Key {
			c.Key[k] = byte(rng.Uint32())
		}
		h, err := hdsum.NewHighDimSum(c)
		if err != nil {
			return err
		}
		everybody := h.NewPopulation()
		for k, x := range images {
			if k%1000 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := everybody.Add(x, rng); err != nil {
				return err
			}
		}
		e, sent, err := everybody.Estimate(rng)
		if err != nil {
			return err
		}
		misses[i] = 100 * floats.Distance(e.Value, sum, 2) / size
		messages[i] = float64(sent) / float64(len(images))
		if i == 0 {
			cost = h.Cost()
		}
		return nil
	})
	if err != nil {
		return outcome{}, err
	}
	var o outcome
	if o.relativeError, err = trimmed(misses); err != nil {
		return outcome{}, err
	}
	if o.messages, err = trimmed(messages); err != nil {
		return outcome{}, err
	}
	o.bits = o.messages.Value * cost.Bits / cost.Messages
	return o, nil
}
