package training

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privunit"
	"github.com/hushgrad/hushgrad/trainer"
)

// withOwn trains with the mechanisms of the flag --with, in this process. Nothing plans a mechanism that is not ours: it
// takes the place of coco in coco's plan, or of privunit in privunit's plan where it does not count entries.
func (l liars) withOwn(ctx context.Context, env experiment.Env, pictures *dataset.Data) (out []*lied, err error) {
	for _, at := range l.settings {
		if len(l.own) == 0 || at.trust != plan.Nobody {
			continue
		}
		t, err := newTask(ctx, env, pictures, l.features[0])
		if err != nil {
			return nil, err
		}
		part := *t.train
		part.Images, part.Labels = part.Images[:min(at.clients, part.Len())*part.Dim()], part.Labels[:min(at.clients, part.Len())]
		t.train, t.clients = &part, part.Len()
		public, err := dataset.NewPublic(ctx, dataset.Digits, t.train.Classes, t.opened, dataset.ToRehearse, env.Progress)
		if err != nil {
			return nil, err
		}
		for _, o := range l.own {
			run, first, err := l.planOwn(ctx, o, at, public)
			if t.first = first; err != nil {
				return nil, fmt.Errorf("%s with %v: %w", o.Label, at, err)
			}
			for _, c := range l.cellsOf(at, o.Label) {
				for k := range l.repeats {
					lies := &parties.Liars{Share: c.share, Attack: c.attack}
					one, err := t.run(ctx, ownRecipe(run, t.model, lies, t.train.Classes), experiment.Stream(env.Seed, 99, uint64(k)))
					if err != nil {
						return nil, fmt.Errorf("%s with %v: %w", o.Label, at, err)
					}
					c.runs = append(c.runs, summary{Accuracy: one.accuracy, Mechanism: o.Label, Rounds: run.Rounds})
					env.Progress.Step()
				}
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// planOwn is the plan that a mechanism of the flag --with takes part in, and the model that it starts from.
func (l liars) planOwn(ctx context.Context, o experiment.Own, at situation, public *dataset.Public) (run *plan.Run, first []float64, err error) {
	for _, name := range []string{coco.Name, privunit.Name} {
		q := plan.Request{Mechanism: name, Trust: plan.Nobody, Clients: at.clients, Budget: at.budget, Delta: 1e-6, PerClient: 1, Force: true} // whose noise is not the one of this plan
		if l.quick {
			q.Rounds = 3
		}
		public.Fill(&q)
		if run, err = q.Run(ctx); err != nil {
			return nil, nil, err
		}
		first = nil
		if q.First != nil {
			first = run.First(q.First)
		}
		run.Template.Mechanism, run.Template.Params = o.Mechanism, o.Params(run.Sparsity)
		if run.Template, run.Opened, err = fl.Complete(run.Template); err != nil || experiment.OfEntries(run.Opened) {
			return run, first, err
		}
	}
	return run, first, nil
}

// ownRecipe trains by a plan, in this process.
func ownRecipe(run *plan.Run, model *trainer.Model, lies *parties.Liars, classes int) recipe {
	return recipe{
		rounds: run.Rounds, cohort: run.Cohort,
		steps: func(float64) plan.Steps { return run.Steps },
		open: func(clients holders, rng *rand.Rand) (rounds, error) {
			gradients, err := clients.On(model, experiment.OfEntries(run.Opened))
			return &liedTo{Gradients: gradients, run: run, lies: lies, classes: classes, rng: rng}, err
		},
	}
}

// liedTo are rounds in this process in which some clients lie.
type liedTo struct {
	trainer.Gradients
	run     *plan.Run
	lies    *parties.Liars
	classes int
	rng     *rand.Rand
	sent    int64
}

// Mean implements trainer.Rounds.
func (f *liedTo) Mean(ctx context.Context, i int, params []float64) (*fl.Estimate, error) {
	var seed [32]byte
	for k := range seed {
		seed[k] = byte(f.rng.Uint32())
	}
	r := f.run.Round(fmt.Sprintf("liars-%03d", i+1), seed)
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	sum, first := m.NewAggregator(), i*f.run.Cohort
	if err := f.Each(ctx, params, first, first+f.run.Cohort, func(turn int, grad []float64) error {
		var report []byte
		var err error
		if f.lies.Lies(turn % f.Len()) {
			report, err = f.lies.ReportTo(r, m, m.Encode, grad, len(grad)-f.classes, f.rng)
		} else {
			report, err = m.Encode(nil, grad, f.rng)
		}
		if f.sent += int64(len(report)); err != nil {
			return err
		}
		return sum.Add(report)
	}); err != nil {
		return nil, err
	}
	return sum.Estimate()
}

// Bytes implements rounds.
func (f *liedTo) Bytes() int64 { return f.sent }

// cellsOf are the attacks on a mechanism in one setting. Without liars the attacks are one.
func (l liars) cellsOf(at situation, mechanism string) (out []*lied) {
	for i, attack := range l.attacks {
		for _, share := range l.shares {
			if share > 0 || i == 0 {
				out = append(out, &lied{federated: federated{features: l.features[0], situation: at}, mechanism: mechanism, attack: attack, share: share})
			}
		}
	}
	return out
}

// checkOwn refuses attacks and settings that mechanisms of the flag --with have no use for.
func (l liars) checkOwn() error {
	if len(l.own) == 0 {
		return nil
	}
	for _, a := range l.attacks {
		if a != parties.BiasAttack && a != parties.ReverseAttack {
			return fl.Invalid("--attacks", a, "must be among %s, %s with --%s: the others need the demo", parties.BiasAttack, parties.ReverseAttack, experiment.FlagWith)
		}
	}
	if !slices.ContainsFunc(l.settings, func(s situation) bool { return s.trust == plan.Nobody }) {
		return fl.Invalid("--settings", l.settings[0], "must have one with trust %s with --%s, such as nobody:6000@4", plan.Nobody, experiment.FlagWith)
	}
	return nil
}
