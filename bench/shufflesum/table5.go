package shufflesum

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/sample"
)

func table5() experiment.Experiment {
	return experiment.Experiment{
		Name:    "table5",
		Title:   "Counts of items when clients hold different numbers of them: SparseVecSum and HighDimSum",
		Source:  paper + ", Table 5",
		Without: []string{experiment.FlagData},
		Bind: func(f *flag.FlagSet) experiment.Run {
			dim := f.Int("dim", 1024, "number of items")
			return bindBudget(f, 4, func(ctx context.Context, env experiment.Env, b budget) (*experiment.Result, error) {
				return runTable5(ctx, env, b, *dim)
			})
		},
	}
}

// baskets draws clients with Zipf many distinct Zipf-popular items.
func baskets(n, dim int, rng *rand.Rand) ([][]int, []float64, error) {
	sizes, popularity := make([]float64, dim), make([]float64, dim)
	for i := range dim {
		sizes[i], popularity[i] = math.Pow(float64(i+2), -3), 1/float64(i+1)
	}
	size, err := sample.NewAlias(sizes)
	if err != nil {
		return nil, nil, err
	}
	item, err := sample.NewAlias(popularity)
	if err != nil {
		return nil, nil, err
	}
	clients, counts := make([][]int, n), make([]float64, dim)
	for i := range clients {
		want := size.Rand(rng) + 1
		var basket []int
		for tries := 0; len(basket) < want && tries < 20*want; tries++ {
			basket = append(basket, item.Rand(rng))
			if tries == want-1 || len(basket) == want {
				slices.Sort(basket)
				basket = slices.Compact(basket)
			}
		}
		slices.Sort(basket)
		clients[i] = slices.Compact(basket)
		for _, k := range clients[i] {
			counts[k]++
		}
	}
	return clients, counts, nil
}

// asVectors writes baskets as 0/1 vectors.
func asVector(dst []int64, items []int) []int64 {
	clear(dst)
	for _, i := range items {
		dst[i] = 1
	}
	return dst
}

func runTable5(ctx context.Context, env experiment.Env, b budget, dim int) (*experiment.Result, error) {
	n, repeats := 100_000, env.RepeatsOr(paperRepeats)
	if env.Quick {
		n, repeats = 20_000, env.RepeatsOr(3)
	}
	if dim < 2 || dim > 1<<16 {
		return nil, fl.Invalid("-dim", dim, "must be in [2, 65536]")
	}
	clients, counts, err := baskets(n, dim, experiment.Stream(env.Seed, 5))
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"mechanism", "composition", "error_percent", "largest_error", "messages_per_client", "bits_per_client", "error_percent_low", "error_percent_high"},
		Notes: []string{
			fmt.Sprintf("n = %d, %d items, ε = %g, δ = %g, β = %g, %s; %d repeats, the smallest and largest fifth dropped.", n, dim, b.epsilon, paperDelta, paperBeta, b.relation, repeats),
			"Data: Zipf (a = 3) many items per client, drawn by Zipf popularity. The paper's data and numbers for this table are not reproduced, only its claim.",
			"Error: L2 distance to the true counts, relative to their L2 norm.",
			intervals,
		},
	}
	env.Progress.Describe("table5")
	env.Progress.Grow(4 * repeats)
	panel := figure.Panel{
		Title: fmt.Sprintf("ε = %g, %s, n = %d", b.epsilon, b.relation, n), YLabel: "relative error of the counts, %",
		Series: []figure.Series{{Name: "SparseVecSum", Style: figure.Bars}, {Name: "HighDimSum", Style: figure.Bars}},
	}
	for k, composition := range []hdsum.Composition{hdsum.Paper, hdsum.Tight} {
		common := hdsum.Config{Clients: n, Epsilon: b.epsilon, Delta: paperDelta, Relation: b.relation}
		sparse, err := hdsum.NewSparseVecSum(hdsum.SparseConfig{Config: common, Dim: dim, Composition: composition, Beta: paperBeta})
		if err != nil {
			return nil, err
		}
		dense, err := hdsum.NewHighDimSum(hdsum.HighDimConfig{
			Config: common, Dim: dim, Norm: int64(math.Ceil(math.Sqrt(float64(dim)))),
			Composition: composition, Beta: paperBeta, Key: [32]byte{5},
		})
		if err != nil {
			return nil, err
		}
		methods := []countMethod{
			{"SparseVecSum", sparse.Cost(), func(rng *rand.Rand) ([]float64, int64, error) {
				e, messages, err := sparse.Simulate(clients, rng)
				if err != nil {
					return nil, 0, err
				}
				return e.Value, messages, nil
			}},
			{"HighDimSum", dense.Cost(), func(rng *rand.Rand) ([]float64, int64, error) {
				everybody, x := dense.NewPopulation(), make([]int64, dim)
				for _, items := range clients {
					if err := everybody.Add(asVector(x, items), rng); err != nil {
						return nil, 0, err
					}
				}
				e, messages, err := everybody.Estimate(rng)
				if err != nil {
					return nil, 0, err
				}
				return e.Value, messages, nil
			}},
		}
		var found [2]outcome
		for j, m := range methods {
			var largest float64
			if found[j], largest, err = m.run(ctx, env, counts, n, repeats, uint64(k), uint64(j)); err != nil {
				return nil, err
			}
			e := found[j].relativeError
			r.Rows = append(r.Rows, experiment.Row{m.name, composition.String(), e.Value, largest, found[j].messages.Value, found[j].bits, e.Low, e.High})
			panel.Series[j].AddNext(e.Value, e.Low, e.High)
		}
		panel.Categories = append(panel.Categories, composition.String()+" composition")
		r.Verdicts = append(r.Verdicts, experiment.Verdict{
			Claim:  fmt.Sprintf("SparseVecSum is more accurate than HighDimSum on sparse vectors (%s composition)", composition),
			Holds:  found[0].relativeError.Value < found[1].relativeError.Value,
			Detail: fmt.Sprintf("%.3g %% against %.3g %%", found[0].relativeError.Value, found[1].relativeError.Value),
		})
	}
	r.Plot = &figure.Figure{ErrorBars: experiment.ErrorBars, Panels: []figure.Panel{panel}}
	return r, nil
}

// countMethod estimates counts of items.
type countMethod struct {
	name     string
	cost     hdsum.Cost
	simulate func(*rand.Rand) (counts []float64, messages int64, err error)
}

func (m countMethod) run(ctx context.Context, env experiment.Env, counts []float64, n, repeats int, key ...uint64) (o outcome, largest float64, err error) {
	misses, worst, messages := make([]float64, repeats), make([]float64, repeats), make([]float64, repeats)
	err = repeat(ctx, env, repeats, func(i int) error {
		got, sent, err := m.simulate(experiment.Stream(env.Seed, append([]uint64{55}, append(key, uint64(i))...)...))
		if err != nil {
			return err
		}
		misses[i] = 100 * floats.Distance(got, counts, 2) / floats.Norm(counts, 2)
		worst[i] = floats.Distance(got, counts, math.Inf(1))
		messages[i] = float64(sent) / float64(n)
		return nil
	})
	if err != nil {
		return outcome{}, 0, err
	}
	if o.relativeError, err = trimmed(misses); err != nil {
		return outcome{}, 0, err
	}
	furthest, err := trimmed(worst)
	if err != nil {
		return outcome{}, 0, err
	}
	if o.messages, err = trimmed(messages); err != nil {
		return outcome{}, 0, err
	}
	o.bits = o.messages.Value * m.cost.Bits / m.cost.Messages
	return o, furthest.Value, nil
}
