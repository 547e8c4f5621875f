package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer"
)

// run is the demo: load the data, then train.
func run(ctx context.Context, cfg config, stdout, stderr io.Writer) error {
	data, err := dataset.Load(ctx, dataset.Options{
		Dir:      cfg.data,
		TestSize: cfg.testSize,
		Seed:     cfg.seed,
		Logf:     func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) },
	})
	if err != nil {
		return err
	}
	if data, err = cfg.transformed(data); err != nil {
		return err
	}
	return train(ctx, cfg, data, stdout, stderr)
}

// train runs all rounds and reports.
func train(ctx context.Context, cfg config, data *dataset.Data, stdout, stderr io.Writer) (err error) {
	start := time.Now()
	fmt.Fprintln(stdout, data.Note)
	model, err := cfg.modelOn(data.Train)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "planning the run from public numbers")
	cfg, schedule, err := cfg.planned(ctx, model)
	if err != nil {
		return err
	}
	result, spent, err := promise(cfg, model, data)
	if err != nil {
		return err
	}
	result.announce(stdout)
	if cfg.explain {
		if err := cfg.explanation(stdout, schedule); err != nil {
			return err
		}
	}
	if err := cfg.affordable(result); err != nil {
		return err
	}

	f, err := newFederation(cfg, model, data.Train)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	test, err := newTester(model, data.Test)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, test.close()) }()

	table := newTable(stdout)
	bar := newBar(stderr, cfg)
	for i := range cfg.rounds {
		after, err := spent.after(cfg, i+1)
		if err != nil {
			return errors.Join(fmt.Errorf("round %d: %w", i+1, err), bar.clear())
		}
		if cfg.budget > 0 && *after.central > cfg.budget {
			result.stopped = after
			break
		}
		row, err := oneRound(ctx, f, test, i, bar.step)
		if err != nil {
			return errors.Join(fmt.Errorf("round %d: %w", i+1, err), bar.clear())
		}
		row.EpsilonCentral = after.central
		result.add(row, after)
		if err := errors.Join(bar.clear(), table.print(row)); err != nil {
			return err
		}
	}
	if err := bar.clear(); err != nil {
		return err
	}
	if len(result.history) == 0 {
		return fl.Invalid("-budget", cfg.budget, "must be at least the central ε of one round, %.4g", *result.stopped.central)
	}
	result.Seconds = time.Since(start).Seconds()
	result.print(stdout)
	if cfg.out == "" {
		return nil
	}
	return result.write(cfg.out, stdout, model, f.averaged)
}

// oneRound trains for one round and measures the model it leads to.
func oneRound(ctx context.Context, f *federation, test *tester, i int, done func()) (historyRow, error) {
	began := time.Now()
	estimate, sent, err := f.round(ctx, i, done)
	if err != nil {
		return historyRow{}, err
	}
	row := historyRow{Round: i + 1, Reports: estimate.Reports, Bytes: sent.bytes}
	if row.Accuracy, row.Loss, err = test.measure(f.averaged); err != nil {
		return historyRow{}, err
	}
	row.Seconds = time.Since(began).Seconds()
	return row, nil
}

// promise builds the mechanism once, before anything runs, to tell what the run
// will promise and cost.
func promise(cfg config, model trainer.Model, data *dataset.Data) (*result, *accountant, error) {
	r, err := fl.Complete(cfg.round(0, model.Dim()))
	if err != nil {
		return nil, nil, err
	}
	m, err := fl.Open(r)
	if err != nil {
		return nil, nil, err
	}
	spent, err := newAccountant(cfg, m)
	if err != nil {
		return nil, nil, err
	}
	res := &result{
		Mechanism:      r.Mechanism, // what auto stands for
		Delta:          cfg.delta,
		Clients:        cfg.clients,
		Budget:         cfg.budget,
		Participations: cfg.participations(cfg.rounds),
		Rounds:         cfg.rounds,
		Cohort:         cfg.cohort,
		Dim:            model.Dim(),
		Data:           data.Source,
		Model:          cfg.model,
		LearningRate:   cfg.lr,
		Momentum:       cfg.momentum,
		Averaging:      cfg.averaging,
		cores:          runtime.GOMAXPROCS(0),
	}
	if sized, ok := m.(fl.ReportSizer); ok {
		res.BytesPerReport = float64(sized.ReportBytes())
	}
	if g := m.Guarantee(); g.Model == fl.Local {
		if menu, ok := m.(fl.TieredMechanism); ok {
			g = menu.Tiers()[len(menu.Tiers())-1]
			res.Tiers = describe(cfg.menu)
		}
		res.EpsilonLocal = &g.Epsilon
		res.Sparsity = cfg.sparsity
	}
	if c, ok := m.(fl.Coster); ok {
		res.cost = c.Cost()
		res.BytesPerReport, res.MessagesPerReport = res.cost.Bytes, res.cost.Messages
	}
	if a, ok := m.(fl.Adviser); ok {
		res.advice = a.Advice()
	}
	return res, spent, nil
}

// tester measures the model on the test images.
type tester struct {
	evaluator *trainer.Evaluator
	images    [][]float64
	labels    []int
}

func newTester(model trainer.Model, set *dataset.Set) (*tester, error) {
	evaluator, err := model.NewEvaluator(min(500, set.Len()))
	if err != nil {
		return nil, err
	}
	t := &tester{evaluator: evaluator, labels: set.Labels}
	for i := range set.Len() {
		t.images = append(t.images, set.Image(i))
	}
	return t, nil
}

func (t *tester) measure(params []float64) (accuracy, loss float64, err error) {
	return t.evaluator.Evaluate(params, t.images, t.labels)
}

func (t *tester) close() error { return t.evaluator.Close() }
