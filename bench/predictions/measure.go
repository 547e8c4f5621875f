package predictions

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/trainer"
)

// measure runs one round of every prediction for the given numbers of clients, as often as there are
// repeats.
func measure(ctx context.Context, env experiment.Env, all []*prediction, sizes []int, repeats int) error {
	var trials []*trial
	for i, p := range all {
		if !slices.Contains(sizes, p.clients) {
			continue
		}
		for k := range repeats {
			t, err := newTrial(p.run, experiment.Stream(env.Seed, 93, uint64(i), uint64(k)))
			if err != nil {
				return err
			}
			trials = append(trials, t)
		}
	}
	err := gradients(ctx, slices.Max(sizes), env.Seed, func(batch [][]float64) error {
		group, inner := errgroup.WithContext(ctx)
		group.SetLimit(env.Jobs)
		for _, t := range trials {
			group.Go(func() error { return t.add(inner, batch) })
		}
		return group.Wait()
	})
	if err != nil {
		return err
	}
	for i, p := range slices.DeleteFunc(slices.Clone(all), func(p *prediction) bool { return !slices.Contains(sizes, p.clients) }) {
		for _, t := range trials[i*repeats : (i+1)*repeats] {
			noise, err := t.noise()
			if err != nil {
				return err
			}
			p.measured = append(p.measured, noise)
			p.entries, p.exact = t.exact()
			env.Progress.Step()
		}
	}
	return nil
}

// gradients calls visit with the gradients of n generated digits at the first model of the demo, a
// batch at a time. They are valid until it returns.
func gradients(ctx context.Context, n int, seed uint64, visit func(batch [][]float64) error) (err error) {
	data, err := dataset.Generate(ctx, dataset.Options{TrainSize: n, TestSize: 1, Seed: seed})
	if err != nil {
		return err
	}
	edges, err := dataset.OpenFeatures(ctx, dataset.Edges, nil)
	if err == nil {
		data, err = data.In(ctx, edges, nil)
	}
	if err != nil {
		return err
	}
	d := data.Train
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: d.Rows, Width: d.Cols}, d.Classes)
	if err != nil {
		return err
	}
	batch := make([][]float64, 256)
	for i := range batch {
		batch[i] = make([]float64, model.Dim())
	}
	examples, err := model.NewExamples(len(batch))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, examples.Close()) }()
	params, x := model.Init(experiment.Stream(seed)), d.All()
	for from := 0; from < n; from += len(batch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+len(batch), n)
		if _, err := examples.Run(params, x[from:to], d.Labels[from:to]); err != nil {
			return err
		}
		for i := range to - from {
			if err := examples.Shrunk(batch[i], i); err != nil {
				return err
			}
		}
		if err := visit(batch[:to-from]); err != nil {
			return err
		}
	}
	return nil
}

// trial is one round of real reports.
type trial struct {
	run        *plan.Run
	mechanism  fl.Mechanism
	aggregator fl.Aggregator
	rng        *rand.Rand
	variances  [2]float64 // of one report at a coordinate that a client holds, and at any other
	reports    int
	clipped    []float64 // sum of the clipped gradients
	entries    float64   // sum of the numbers of entries that clients hold
	sampling   float64   // sum of the variances of their choice, over the coordinates
	encoded    []byte
}

func newTrial(run *plan.Run, rng *rand.Rand) (*trial, error) {
	r := run.Template
	for b := range r.PublicSeed {
		r.PublicSeed[b] = byte(rng.Uint32())
	}
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	t := &trial{run: run, mechanism: m, aggregator: m.NewAggregator(), rng: rng, clipped: make([]float64, r.Dim)}
	for _, c := range mechanisms.Schemes() {
		if c.Name() != r.Mechanism {
			continue
		}
		at, err := c.Calibration(sparse.Point{Dim: r.Dim, Sparsity: run.Sparsity, Slots: run.Schedule.Slots, Epsilon: r.Epsilon})
		if err != nil {
			return nil, err
		}
		t.variances[0], t.variances[1] = at.MeanVariance()
	}
	return t, nil
}

// add sends the gradients of clients that take part.
func (t *trial) add(ctx context.Context, batch [][]float64) (err error) {
	for _, g := range batch[:min(len(batch), t.run.Cohort-t.reports)] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.encoded, err = t.mechanism.Encode(t.encoded[:0], g, t.rng); err != nil {
			return err
		}
		if err := t.aggregator.Add(t.encoded); err != nil {
			return err
		}
		t.reports++
		entries, sampling := addClipped(t.clipped, g, t.run.Template.Scale, t.run.Sparsity)
		t.entries, t.sampling = t.entries+entries, t.sampling+sampling
	}
	return nil
}

// addClipped adds to sum what a report of a gradient stands for on average: each coordinate is at
// most scale, and then all are scaled down until their absolute values sum to at most
// scale·sparsity. Over scale they are the probabilities with which coordinates become entries: it
// returns the mean number of entries and the variance of the choice, summed over the coordinates.
func addClipped(sum, grad []float64, scale float64, sparsity int) (entries, sampling float64) {
	norm := 0.0
	for _, v := range grad {
		norm += min(scale, math.Abs(v))
	}
	shrink := min(1, scale*float64(sparsity)/norm)
	for j, v := range grad {
		v = shrink * max(-scale, min(scale, v))
		sum[j] += v
		p := math.Abs(v) / scale
		entries, sampling = entries+p, sampling+p*(1-p)
	}
	return entries, sampling
}

// exact returns the mean number of entries of the clients, and the exact noise for it.
func (t *trial) exact() (entries, noise float64) {
	n, dim := float64(t.reports), float64(len(t.clipped))
	entries = t.entries / n
	squares := entries*t.variances[0] + (dim-entries)*t.variances[1] + t.sampling/n
	return entries, math.Sqrt(squares/dim/n) * t.run.Template.Scale
}

// noise returns the root mean square of what the estimate is off the mean of the clipped gradients.
func (t *trial) noise() (float64, error) {
	estimate, err := t.aggregator.Estimate()
	if err != nil {
		return 0, err
	}
	squares := 0.0
	for j, v := range estimate.Mean().Value {
		off := v - t.clipped[j]/float64(t.reports)
		squares += off * off
	}
	return math.Sqrt(squares / float64(len(t.clipped))), nil
}
