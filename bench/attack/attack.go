// Package attack measures what reports reveal about a client's label, by attacking them. Use
// it to see what a value of ε means. Start with go run ./bench attack.
//
// The attacker is the receiver of the reports. It knows everything public: the model, the
// round and its hash functions, and pictures that no client holds. From these it learns how
// likely a client of each class is to send each slot. It adds up log-likelihoods over the
// reports that it can link to one client, and guesses the class with the largest sum. The
// contrast is the same attack on shuffled reports, which nobody can link.
package attack

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:   "attack",
		Title:  "Label inference against linked and against shuffled reports",
		Source: "Our own attack on the real encoder; no paper",
		Bind: func(f *flag.FlagSet) experiment.Run {
			s := setting{}
			f.Float64Var(&s.epsilon, "epsilon", 4.5, "local ε of one report")
			f.IntVar(&s.victims, "victims", 0, "clients under attack, at least 20; 0: 1000, or 100 with -quick")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) { return s.run(ctx, env) }
		},
	}}
}

// setting is what the flags say.
type setting struct {
	epsilon float64
	victims int
}

// linked are the numbers of reports that the attacker links to one client.
var linked = []int{1, 2, 5, 10, 20, 30}

func (s setting) validate() error {
	switch {
	case !(s.epsilon > 0 && s.epsilon <= fl.MaxEpsilon):
		return fl.Invalid("-epsilon", s.epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case s.victims != 0 && s.victims < 20:
		return fl.Invalid("-victims", s.victims, "must be at least 20, or 0")
	}
	return nil
}

func (s setting) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	options := dataset.Options{Source: env.Data, Seed: env.Seed}
	victims := 1000
	if env.Quick {
		victims = 100
		options.TrainSize, options.TestSize = 2000, 1000
	}
	s.victims = cmp.Or(s.victims, victims)
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, err
	}
	note := data.Note
	env.Progress.Describe("features")
	edges, err := dataset.OpenFeatures(ctx, dataset.Edges, nil)
	if err != nil {
		return nil, err
	}
	if data, err = data.In(ctx, edges, env.Progress); err != nil {
		return nil, err
	}
	if s.victims > data.Train.Len() {
		return nil, fl.Invalid("-victims", s.victims, "must be at most the number of pictures, %d", data.Train.Len())
	}
	env.Progress.Describe("attack")
	env.Progress.Grow(s.victims)
	a, err := s.newAttacker(ctx, data)
	if err != nil {
		return nil, err
	}
	likelihoods, labels, err := a.read(ctx, data.Train, s.victims, env)
	if err != nil {
		return nil, err
	}
	return s.report(likelihoods, labels, data.Train.Classes, note), nil
}

// attacker is what the attacker knows before the first report.
type attacker struct {
	model  *trainer.Model
	params []float64
	round  fl.Round
	// plus and minus are, per class and coordinate, the probabilities that a client of the
	// class has +1 and −1 there in its ternary vector.
	plus, minus [][]float64
}

// newAttacker learns the classes from the test pictures, which no client holds.
func (s setting) newAttacker(ctx context.Context, data *dataset.Data) (*attacker, error) {
	public := data.Test
	in := trainer.Input{Channels: 1, Height: public.Rows, Width: public.Cols}
	model, err := trainer.NewModel("softmax", in, public.Classes)
	if err != nil {
		return nil, err
	}
	a := &attacker{model: model, params: model.Init(experiment.Stream(0))}
	l1, l2, err := trainer.GradientNorms(model, a.params, public.All()[:256], public.Labels[:256])
	if err != nil {
		return nil, err
	}
	sparsity, scale := plan.Training{Dim: model.Dim(), L1: l1, L2: l2}.Shape()
	a.round = fl.Round{
		ID: "attack", Mechanism: coco.Name, Dim: model.Dim(), Scale: scale, Epsilon: s.epsilon, Relation: fl.ReplaceOne,
		MinReports: 1, Params: fl.Params{"sparsity": fl.Int(sparsity)},
	}
	counts := make([]float64, public.Classes)
	for range public.Classes {
		a.plus, a.minus = append(a.plus, make([]float64, model.Dim())), append(a.minus, make([]float64, model.Dim()))
	}
	limit := scale * float64(sparsity)
	err = a.gradients(ctx, public, public.Len(), func(i int, grad []float64) error {
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
func (a *attacker) gradients(ctx context.Context, set *dataset.Set, n int, visit func(i int, grad []float64) error) (err error) {
	const batch = 256
	examples, err := a.model.NewExamples(batch)
	if err != nil {
		return err
	}
	defer func() { _ = examples.Close() }() // nothing was written
	x, grad := set.All(), make([]float64, a.model.Dim())
	for from := 0; from < n; from += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+batch, n)
		if _, err := examples.Run(a.params, x[from:to], set.Labels[from:to]); err != nil {
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
func (a *attacker) read(ctx context.Context, set *dataset.Set, victims int, env experiment.Env) (likelihoods [][][]float64, labels []int, err error) {
	rounds := linked[len(linked)-1]
	mechanisms := make([]fl.Mechanism, rounds)
	for k := range mechanisms {
		r, seed := a.round, experiment.Stream(env.Seed, 91, uint64(k))
		for i := range r.PublicSeed {
			r.PublicSeed[i] = byte(seed.Uint32())
		}
		if _, mechanisms[k], err = fl.Complete(r); err != nil {
			return nil, nil, err
		}
	}
	likelihoods = make([][][]float64, victims)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	err = a.gradients(inner, set, victims, func(i int, grad []float64) error {
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
	if wait := group.Wait(); err == nil {
		err = wait
	}
	return likelihoods, set.Labels[:victims], err
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
	gain := math.Expm1(a.round.Epsilon)
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

// guess returns the class with the largest sum of log-likelihoods.
func guess(reports [][]float64) int {
	best, most := 0, math.Inf(-1)
	for class := range reports[0] {
		sum := 0.0
		for _, l := range reports {
			sum += l[class]
		}
		if sum > most {
			best, most = class, sum
		}
	}
	return best
}

// describe is the note about what was attacked.
func (s setting) describe(note string) []string {
	return []string{
		note,
		fmt.Sprintf("%d clients with one picture each send CoCo reports of local ε = %g at the first model of softmax regression on oriented edges.", s.victims, s.epsilon),
		"The attacker learns the classes from the test pictures. A better attacker may find more.",
		"Error bars: Wilson's 95 % intervals over the clients.",
	}
}
