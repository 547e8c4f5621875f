package training

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer"
)

// clearRounds is the number of rounds of sums in the clear.
const clearRounds = 30

// clearRun trains on updates that the server sees. Some of the updates are lies.
type clearRun struct {
	rule, attack string
	share        float64
	accuracy     float64
}

// clearRules make one vector of many updates. Each rule knows how many of the updates may be lies.
var clearRules = []struct {
	name string
	add  func(updates [][]float64, lies int) []float64
}{
	{"mean", func(u [][]float64, _ int) []float64 { return meanOf(u) }},
	{"median", func(u [][]float64, _ int) []float64 { return trimmedMean(u, (len(u)-1)/2) }},
	{"trimmed-mean", func(u [][]float64, _ int) []float64 { return trimmedMean(u, len(u)/5) }},
	{"krum", multiKrum},
}

// inTheClear runs all rules with all attacks and shares.
func (l liars) inTheClear(ctx context.Context, env experiment.Env, pictures *dataset.Data) (out []*clearRun, err error) {
	if l.clear == 0 {
		return nil, nil
	}
	t, err := newTask(ctx, env, pictures, l.features[0])
	if err != nil {
		return nil, err
	}
	part := *t.train
	part.Images, part.Labels = part.Images[:min(l.clear, part.Len())*part.Dim()], part.Labels[:min(l.clear, part.Len())]
	t.train, t.clients = &part, part.Len()
	attacks := slices.DeleteFunc(slices.Clone(l.attacks), func(a string) bool { return a != parties.BiasAttack && a != parties.ReverseAttack }) // the others need the demo
	env.Progress.Describe("in the clear")
	env.Progress.Grow(len(clearRules) * len(attacks) * len(l.shares))
	for _, rule := range clearRules {
		for i, attack := range attacks {
			for _, share := range l.shares {
				if share > 0 || i == 0 {
					run := &clearRun{rule: rule.name, attack: attack, share: share}
					if run.accuracy, err = t.inTheClear(ctx, env.Seed, run, rule.add); err != nil {
						return nil, fmt.Errorf("%s in the clear: %w", rule.name, err)
					}
					out = append(out, run)
				}
				env.Progress.Step()
			}
		}
	}
	return out, nil
}

// inTheClear trains once. The first clients lie.
func (t *task) inTheClear(ctx context.Context, seed uint64, run *clearRun, add func([][]float64, int) []float64) (accuracy float64, err error) {
	rng := experiment.Stream(seed, 98)
	clients, err := t.deal(rng)
	if err != nil {
		return 0, err
	}
	gradients, err := clients.On(t.model, false)
	if err != nil {
		return 0, err
	}
	defer func() { _ = gradients.Close() }() // nothing was written
	lies := int(math.Round(run.share * float64(t.clients)))
	source := meansOfUpdates(func(params []float64) ([]float64, error) {
		updates := make([][]float64, 0, t.clients)
		if err := gradients.Each(ctx, params, 0, t.clients, func(_ int, grad []float64) error {
			updates = append(updates, slices.Clone(grad))
			return nil
		}); err != nil {
			return nil, err
		}
		long := 100 * floats.Norm(meanOf(updates), 2)
		for _, u := range updates[:lies] {
			if run.attack == parties.ReverseAttack {
				floats.Scale(-long/floats.Norm(u, 2), u)
				continue
			}
			clear(u)
			u[len(u)-t.train.Classes] = -long
		}
		return add(updates, lies), nil
	})
	average, err := trainer.Run(ctx, source, t.model.Init(rng), trainer.RunConfig{Rounds: clearRounds, Steps: trainer.Momentum(1, 0.5, 0.8)})
	if err != nil {
		return 0, err
	}
	return t.accuracy(average)
}

// meansOfUpdates are rounds of all clients.
type meansOfUpdates func(params []float64) ([]float64, error)

// Mean implements trainer.Rounds.
func (f meansOfUpdates) Mean(_ context.Context, _ int, params []float64) (*fl.Estimate, error) {
	mean, err := f(params)
	return fl.NewEstimate(fl.Round{}, fl.Guarantee{}, 1, fl.Series{Value: mean}), err
}

func meanOf(updates [][]float64) []float64 {
	sum := make([]float64, len(updates[0]))
	for _, u := range updates {
		floats.Add(sum, u)
	}
	floats.Scale(1/float64(len(updates)), sum)
	return sum
}

// trimmedMean is the mean of each coordinate without its cut largest and cut smallest values (Yin et al., Byzantine-Robust
// Distributed Learning, ICML 2018).
func trimmedMean(updates [][]float64, cut int) []float64 {
	out, column := make([]float64, len(updates[0])), make([]float64, len(updates))
	for j := range out {
		for i, u := range updates {
			column[i] = u[j]
		}
		slices.Sort(column)
		kept := column[cut : len(column)-cut]
		out[j] = floats.Sum(kept) / float64(len(kept))
	}
	return out
}

// multiKrum is the mean of the n − lies updates that are closest to their n − lies − 2 nearest ones (Blanchard et al.,
// Machine Learning with Adversaries, NeurIPS 2017).
func multiKrum(updates [][]float64, lies int) []float64 {
	n := len(updates)
	near := max(1, n-lies-2)
	scores, order := make([]float64, n), make([]int, n)
	distances := make([]float64, n)
	for i, u := range updates {
		for k, v := range updates {
			d := floats.Distance(u, v, 2)
			distances[k] = d * d
		}
		slices.Sort(distances)
		scores[i], order[i] = floats.Sum(distances[1:near+1]), i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return a - b
	})
	chosen := make([][]float64, 0, n)
	for _, i := range order[:n-lies] {
		chosen = append(chosen, updates[i])
	}
	return meanOf(chosen)
}
