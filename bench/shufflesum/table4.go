package shufflesum

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"
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
		Title:  "Sums of images: relative error of HighDimSum, HLY and central DP",
		Source: paper + ", Table 4", Settings: zeroOut,
		Bind: func(f *flag.FlagSet) experiment.Run {
			return bindBudget(f, 5, runTable4)
		},
	}
}

// norm is U₂ of the paper.
const norm = 1 << 10

// The relative errors the paper prints, in percent, and its messages per client.
const (
	paperHighDim, paperHighDimMessages = 6.45, 446_000
	paperHLY, paperHLYMessages         = 1540, 3_270_000
	paperCentral                       = 0.328
)

// threshold makes pixels 0 or 1: pixels of at least 128 of 255 are 1. The paper does not say how
// it scales pixels; its error of HLY, whose noise depends on no data, fits values of order 1.
const threshold = 128. / 255

// integerImages appends the 0/1 images of a set and adds them to sum.
func integerImages(images [][]int64, sum []float64, set *dataset.Set) [][]int64 {
	for i := range set.Len() {
		x := make([]int64, set.Dim())
		for j, pixel := range set.Image(i) {
			if pixel >= threshold {
				x[j] = 1
				sum[j]++
			}
		}
		images = append(images, x)
	}
	return images
}

// loadImages returns training and test images together, as the paper sums them: a directory's images,
// MNIST from the network where --data asks for it, or generated digits. sum is the sum of the 0/1
// images, and grey is the sum of images with pixels in [0, 1].
func loadImages(ctx context.Context, env experiment.Env) (images [][]int64, sum, grey []float64, source string, err error) {
	options := dataset.Options{Source: env.Data, Seed: env.Seed}
	if env.Quick && env.Data == dataset.Generated {
		options.TrainSize, options.TestSize = 4000, 1000
	}
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, nil, nil, "", err
	}
	sum, grey = make([]float64, data.Train.Dim()), make([]float64, data.Train.Dim())
	for _, set := range []*dataset.Set{data.Train, data.Test} {
		images = integerImages(images, sum, set)
		for i := range set.Len() {
			floats.Add(grey, set.Image(i))
		}
	}
	if floats.Norm(sum, 2) == 0 {
		return nil, nil, nil, "", errors.New("all images are black")
	}
	return images, sum, grey, data.Note, nil
}

// vectorMethod estimates a sum of vectors.
type vectorMethod struct {
	name, relation, composition string
	bits                        float64 // per message
	paper, paperMessages        float64 // 0: none
	simulate                    func(rng *rand.Rand) (sum []float64, messages int64, err error)
}

func runTable4(ctx context.Context, env experiment.Env, b budget) (*experiment.Result, error) {
	images, sum, grey, source, err := loadImages(ctx, env)
	if err != nil {
		return nil, err
	}
	repeats := env.RepeatsOfSeed(paperRepeats, paperRepeats/4)
	if env.Quick {
		repeats = env.RepeatsOr(3)
	}
	relations := []fl.Relation{b.relation}
	if b.relation == fl.ZeroOut {
		relations = append(relations, fl.ReplaceOne) // the honest figure beside the paper's
	}
	var methods []vectorMethod
	for _, relation := range relations {
		for _, composition := range []hdsum.Composition{hdsum.Paper, hdsum.Tight} {
			m, err := highDim(ctx, images, len(sum), b.epsilon, relation, composition)
			if err != nil {
				return nil, err
			}
			methods = append(methods, m)
		}
	}
	for _, base := range []logarithm{baseTwo, natural} {
		m, err := hly(images, sum, b.epsilon, base)
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	methods = append(methods, centralVector(images, sum, b.epsilon))
	r := &experiment.Result{
		Columns: []string{"mechanism", "relation", "composition", "error_percent", "paper_error_percent", "messages_per_client", "paper_messages_per_client", "bits_per_client", "error_percent_low", "error_percent_high"},
		Notes: []string{
			source,
			fmt.Sprintf("n = %d, d = %d, U₂ = %d, ε = %g, δ = %g, β = %g; %d repeats, the smallest and largest fifth dropped.", len(images), len(sum), norm, b.epsilon, paperDelta, paperBeta, repeats),
			"Error: L2 distance to the sum of the images, relative to its L2 norm. Pixels are 1 from 128 of 255 on and 0 below.",
			"HLY rotates as HighDimSum does, clips to ±B with B = U₂·log(nd) and sums each coordinate in [0, 2B] with ε/(2√(d·log(2/δ))) and δ/(2d), d being the rotation's dimension, 1024. Its constants and the base of its logarithms are not printed: both bases are here. Its budgets are the paper's, and not certified. Its error is the error of all coordinates of the rotation, as it comes out before the padding is cut off: a cut would take an eighth of it.",
			"Central DP is a trusted server with Gaussian noise, by the classical formula, for a clipping norm of twice the largest norm of an image. It is given that norm, so that it is a reference and no private mechanism.",
			"The messages that the paper prints do not belong to its budgets: ours are beside them.",
			intervals,
		},
	}
	env.Progress.Describe("table4")
	env.Progress.Grow(len(methods) * repeats)
	pictures, others := "images", map[string]string{dataset.Generated: "generated digits", dataset.Textures: "generated clothes"}[env.Data]
	if others != "" {
		pictures = others
	}
	panel := figure.Panel{
		Title: fmt.Sprintf("ε = %g, %d %s", b.epsilon, len(images), pictures), YLabel: "relative error of the sum, %", LogY: true,
	}
	for _, relation := range relations {
		panel.Series = append(panel.Series, figure.Series{Name: "HighDimSum, " + relation.String(), Style: figure.Points})
	}
	theirs := len(panel.Series) + 1
	panel.Series = append(panel.Series, figure.Series{Name: "HLY and central DP", Style: figure.Points},
		figure.Series{Name: "the paper's, MNIST", Of: "HLY and central DP", Style: figure.Points})
	found := vectorOutcomes{}
	for i, m := range methods {
		o, err := m.run(ctx, env, sum, len(images), repeats, uint64(i))
		if err != nil {
			return nil, err
		}
		e, label := o.err, m.label()
		found[label] = o
		row := experiment.Row{m.name, nil, nil, e.Value, nil, nil, nil, nil, e.Low, e.High}
		if m.relation != "" {
			row[1], row[2] = m.relation, m.composition
		}
		x := category(&panel, m.tick())
		if m.paper > 0 {
			row[4] = m.paper
			panel.Series[theirs].X, panel.Series[theirs].Y = append(panel.Series[theirs].X, x), append(panel.Series[theirs].Y, m.paper)
		}
		if m.bits > 0 {
			row[5], row[7] = o.messages.Value, o.bits
		}
		if m.paperMessages > 0 {
			row[6] = m.paperMessages
		}
		r.Rows = append(r.Rows, row)
		own := theirs - 1
		if at := slices.IndexFunc(relations, func(r fl.Relation) bool { return r.String() == m.relation }); at >= 0 {
			own = at
		}
		panel.Series[own].Add(x, e.Value, e.Low, e.High)
	}
	r.Verdicts = found.table4Claims(b.relation, floats.Norm(sum, 2)/floats.Norm(grey, 2), others)
	r.Plot = &figure.Figure{ErrorBars: experiment.ErrorBars, Panels: []figure.Panel{panel}}
	return r, nil
}

func (m vectorMethod) label() string {
	if m.relation == "" {
		return m.name
	}
	return fmt.Sprintf("%s, %s, %s composition", m.name, m.relation, m.composition)
}

// shorten makes names fit below an axis.
var shorten = strings.NewReplacer("DimSum", "Dim", "VecSum", "Vec", "base-2 logarithms", "log₂", "natural logarithms", "ln",
	", stand-in", "", "μ=", "", " σ=", "/")

// tick is the name of a method below an axis: both relations share one.
func (m vectorMethod) tick() string {
	if m.composition != "" {
		return shorten.Replace(m.name + ", " + m.composition)
	}
	return shorten.Replace(m.name)
}

// category returns where a name is below an axis, and adds it if it is new.
func category(p *figure.Panel, name string) float64 {
	i := slices.Index(p.Categories, name)
	if i < 0 {
		i, p.Categories = len(p.Categories), append(p.Categories, name)
	}
	return float64(i)
}

// run measures the L2 error of a method, relative to the sum of all vectors.
func (m vectorMethod) run(ctx context.Context, env experiment.Env, truth []float64, clients, repeats int, key uint64) (outcome, error) {
	return m.runWith(ctx, env, m.label(), 4, func(got []float64) float64 {
		want := append(slices.Clone(truth), make([]float64, len(got)-len(truth))...) // 0 in the padding
		return 100 * floats.Distance(got, want, 2) / floats.Norm(truth, 2)
	}, clients, repeats, key)
}

// runWith repeats a method and measures it with a score in percent.
func (m vectorMethod) runWith(ctx context.Context, env experiment.Env, label string, table uint64, score func(got []float64) float64, clients, repeats int, key uint64) (outcome, error) {
	numbers, err := env.Checkpoint.Do(label, func() ([]float64, error) {
		numbers := make([]float64, 2*repeats)
		return numbers, repeat(ctx, env, repeats, func(i int) error {
			got, sent, err := m.simulate(experiment.Stream(env.Seed, table, key, uint64(i)))
			if err != nil {
				return err
			}
			numbers[i], numbers[repeats+i] = score(got), float64(sent)/float64(clients)
			return nil
		})
	})
	if err != nil {
		return outcome{}, err
	}
	if len(numbers) != 2*repeats {
		return outcome{}, fmt.Errorf("the checkpoint has %d numbers for %s, want %d", len(numbers), label, 2*repeats)
	}
	var o outcome
	if o.err, err = trimmed(numbers[:repeats]); err != nil {
		return outcome{}, err
	}
	if o.messages, err = trimmed(numbers[repeats:]); err != nil {
		return outcome{}, err
	}
	o.bits = o.messages.Value * m.bits
	return o, nil
}
