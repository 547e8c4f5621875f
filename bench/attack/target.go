package attack

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/trainer"
)

// Target is what is attacked: clients with one example each, who all report at the same model.
type Target struct {
	Model  *trainer.Model
	Params []float64 // of the model
	// Round is the round of every report, of a sparse mechanism. Each report's round has a PublicSeed of its own.
	Round fl.Round
	// Public are examples that no client holds. The attacker learns the classes from them.
	Public *dataset.Set
	// Clients are the clients' examples. The first Victims of them, at least 1, are attacked.
	Clients *dataset.Set
	Victims int
	// Reports is the number of reports of each victim, at least 1.
	Reports int
}

// Linked returns the share of the victims whose class the attacker finds when it links all their
// reports, with Wilson's 95 % interval. It uses env.Seed and env.Jobs.
func (t Target) Linked(ctx context.Context, env experiment.Env) (experiment.Interval, error) {
	likelihoods, err := t.read(ctx, env)
	if err != nil {
		return experiment.Interval{}, err
	}
	return attackLinked(likelihoods, t.labels(), t.Reports), nil
}

// labels returns the victims' labels.
func (t Target) labels() []int { return t.Clients.Labels[:t.Victims] }

// attacker is what the attacker knows before the first report.
type attacker struct {
	Target
	// plus and minus are, per class and coordinate, the probabilities that a client of the
	// class has +1 and −1 there in its ternary vector.
	plus, minus [][]float64
}

// learn learns the classes from the public examples.
func (t Target) learn(ctx context.Context) (*attacker, error) {
	completed, _, err := fl.Complete(t.Round)
	if err != nil {
		return nil, err
	}
	sparsity, err := completed.Params.Int(sparse.ParamSparsity)
	if err != nil {
		return nil, err
	}
	a, public, scale := &attacker{Target: t}, t.Public, t.Round.Scale
	counts := make([]float64, public.Classes)
	for range public.Classes {
		a.plus, a.minus = append(a.plus, make([]float64, t.Model.Dim())), append(a.minus, make([]float64, t.Model.Dim()))
	}
	limit := scale * float64(sparsity)
	err = t.gradients(ctx, public, public.Len(), func(i int, grad []float64) error {
		class, norm := public.Labels[i], 0.0
		counts[class]++
		for _, g := range grad {
			norm += math.Abs(g)
		}
		clip := min(1, limit/norm)
		for j, g := range grad {
			// Coordinates are sampled in proportion to their size, at most for certain.
			p := min(1, math.Abs(g)*clip/scale)
			if g > 0 {
				a.plus[class][j] += p
			} else {
				a.minus[class][j] += p
			}
		}
		return nil
	})
	for class, n := range counts {
		for j := range a.plus[class] {
			a.plus[class][j] /= max(1, n)
			a.minus[class][j] /= max(1, n)
		}
	}
	return a, err
}

// gradients calls visit with what clients with the first n pictures of a set would encode.
func (t Target) gradients(ctx context.Context, set *dataset.Set, n int, visit func(i int, grad []float64) error) (err error) {
	const batch = 256
	examples, err := t.Model.NewExamples(batch)
	if err != nil {
		return err
	}
	defer func() { _ = examples.Close() }() // nothing was written
	x, grad := set.All(), make([]float64, t.Model.Dim())
	for from := 0; from < n; from += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+batch, n)
		if _, err := examples.Run(t.Params, x[from:to], set.Labels[from:to]); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if err := examples.Shrunk(grad, i-from); err != nil {
				return err
			}
			if err := visit(i, grad); err != nil {
				return err
			}
		}
	}
	return nil
}

// read lets every victim report in as many rounds as there are, and returns the
// log-likelihoods of each report under each class, by victim and round.
func (t Target) read(ctx context.Context, env experiment.Env) (likelihoods [][][]float64, err error) {
	a, err := t.learn(ctx)
	if err != nil {
		return nil, err
	}
	mechanisms := make([]fl.Mechanism, t.Reports)
	for k := range mechanisms {
		r := t.Round
		r.MinReports = 1 // the attacker decodes single reports
		seed := experiment.Stream(env.Seed, 91, uint64(k))
		for i := range r.PublicSeed {
			r.PublicSeed[i] = byte(seed.Uint32())
		}
		if _, mechanisms[k], err = fl.Complete(r); err != nil {
			return nil, err
		}
	}
	likelihoods = make([][][]float64, t.Victims)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	err = t.gradients(inner, t.Clients, t.Victims, func(i int, grad []float64) error {
		own := append([]float64(nil), grad...)
		group.Go(func() error {
			defer env.Progress.Step()
			rng := experiment.Stream(env.Seed, 92, uint64(i))
			for _, m := range mechanisms {
				if err := inner.Err(); err != nil {
					return err
				}
				report, err := m.Encode(nil, own, rng)
				if err != nil {
					return err
				}
				l, err := a.likelihood(m, report)
				if err != nil {
					return err
				}
				likelihoods[i] = append(likelihoods[i], l)
			}
			return nil
		})
		return nil
	})
	if failed := group.Wait(); failed != nil { // what canceled the gradients, too
		err = failed
	}
	return likelihoods, err
}

// likelihood returns the logarithm of the probability of a report under each class, but for
// a constant. A slot has weight e^ε if the client has one of its items, and about 1 if not.
func (a *attacker) likelihood(m fl.Mechanism, report []byte) ([]float64, error) {
	agg := m.NewAggregator()
	if err := agg.Add(report); err != nil {
		return nil, err
	}
	e, err := agg.Estimate() // of a single report: above 0 for + items of its slot, below for − items
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(a.plus))
	gain := math.Expm1(a.Round.Epsilon)
	for class := range out {
		held := 0.0
		for j, v := range e.Mean().Value {
			switch {
			case v > 0:
				held += a.plus[class][j]
			case v < 0:
				held += a.minus[class][j]
			}
		}
		out[class] = math.Log1p(gain * min(1, held))
	}
	return out, nil
}
