package shufflesum

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	flag "github.com/spf13/pflag"
	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func table5() experiment.Experiment {
	return experiment.Experiment{
		Name:    "table5",
		Title:   "Counts of items when clients hold different numbers of them: SparVecSum, NaiveVecSum and central DP",
		Source:  paper + ", Table 5",
		Without: []string{experiment.FlagData}, Settings: zeroOut,
		Bind: func(f *flag.FlagSet) experiment.Run {
			dim := f.Int("dim", 16_000, "number of items")
			return bindBudget(f, 5, func(ctx context.Context, env experiment.Env, b budget) (*experiment.Result, error) {
				return runTable5(ctx, env, b, *dim)
			})
		},
	}
}

// The relative errors the paper prints, in percent, and its messages per client.
const (
	paperSparse, paperSparseMessages = 4.4, 4_970_000
	paperNaive, paperNaiveMessages   = 21, 1_450_000
	paperSparseCentral               = 3.2
)

func runTable5(ctx context.Context, env experiment.Env, b budget, dim int) (*experiment.Result, error) {
	n, repeats := 50_000, env.RepeatsOr(paperRepeats)
	if env.Quick {
		n, repeats = 10_000, env.RepeatsOr(3)
	}
	if dim < 2 || dim > 1<<16 {
		return nil, fl.Invalid("--dim", dim, "must be in [2, 65536]")
	}
	clients, counts, err := clicks(n, dim, experiment.Stream(env.Seed, 5))
	if err != nil {
		return nil, err
	}
	top := floats.Max(counts)
	r := &experiment.Result{
		Columns: []string{"mechanism", "composition", "error_percent", "paper_error_percent", "largest_error", "messages_per_client", "paper_messages_per_client", "bits_per_client", "error_percent_low", "error_percent_high"},
		Notes: []string{
			fmt.Sprintf("n = %d, %d items, ε = %g, δ = %g, β = %g, %s; %d repeats, the smallest and largest fifth dropped.", n, dim, b.epsilon, paperDelta, paperBeta, b.relation, repeats),
			"Error: the largest absolute error of a count, relative to the largest count.",
			fmt.Sprintf("Data: a stand-in for a search log that was withdrawn. Clients hold a lognormal number of items, with median 12 and standard deviation 0.58 of the logarithm; the k-th item has popularity 1/(k + 9.5). These constants follow from the errors that the paper prints, so that the agreement of the errors is no evidence. The largest count is %.0f, and a client holds %.1f items on average and %d at most.", top, floats.Sum(counts)/float64(n), longest(clients)),
			"NaiveVecSum is one BaseSum per item with ε/√(S·log(2/δ)) and δ/(2S) for the sparsity bound S = d. The base of the logarithm is not printed: both are here. Its budgets are the paper's, for zero-out, and not certified.",
			"Central DP is a trusted server with Gaussian noise, by the classical formula, for clients cut to 2^j items: the j with the smallest error, which it is given. It is a reference and no private mechanism.",
			intervals,
		},
	}
	var methods []vectorMethod
	for _, composition := range []hdsum.Composition{hdsum.Paper, hdsum.Tight} {
		m, err := sparse(clients, dim, b, composition)
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	for _, l := range []logarithm{baseTwo, natural} {
		m, err := naive(counts, n, b.epsilon, l)
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	methods = append(methods, centralCounts(clients, counts, b.epsilon))
	env.Progress.Describe("table5")
	env.Progress.Grow(len(methods) * repeats)
	panel := figure.Panel{
		Title: fmt.Sprintf("ε = %g, %s, n = %d", b.epsilon, b.relation, n), YLabel: "largest error, % of the largest count", LogY: true,
		Series: []figure.Series{{Name: "measured", Style: figure.Points}, {Name: "the paper's, its own data", Of: "measured", Style: figure.Points}},
	}
	found := vectorOutcomes{}
	for i, m := range methods {
		o, err := m.runCounts(ctx, env, counts, n, repeats, uint64(i))
		if err != nil {
			return nil, err
		}
		e := o.err
		found[m.countLabel()] = o
		row := experiment.Row{m.name, nil, e.Value, m.paper, e.Value * top / 100, nil, nil, nil, e.Low, e.High}
		if m.composition != "" {
			row[1] = m.composition
		}
		if m.bits > 0 {
			row[5], row[6], row[7] = o.messages.Value, m.paperMessages, o.bits
		}
		r.Rows = append(r.Rows, row)
		panel.Series[0].Add(float64(i), e.Value, e.Low, e.High)
		panel.Series[1].X, panel.Series[1].Y = append(panel.Series[1].X, float64(i)), append(panel.Series[1].Y, m.paper)
		panel.Categories = append(panel.Categories, m.tick())
	}
	r.Verdicts = found.table5Claims()
	r.Plot = &figure.Figure{ErrorBars: experiment.ErrorBars, Panels: []figure.Panel{panel}}
	return r, nil
}

func longest(clients [][]int) (most int) {
	for _, items := range clients {
		most = max(most, len(items))
	}
	return most
}

func (m vectorMethod) countLabel() string {
	if m.composition == "" {
		return m.name
	}
	return fmt.Sprintf("%s, %s composition", m.name, m.composition)
}

const sparseName = "SparVecSum"

func naiveName(l logarithm) string { return fmt.Sprintf("NaiveVecSum, %s logarithms", l) }

func sparse(clients [][]int, dim int, b budget, composition hdsum.Composition) (vectorMethod, error) {
	s, err := hdsum.NewSparseVecSum(hdsum.SparseConfig{
		Config: hdsum.Config{Clients: len(clients), Epsilon: b.epsilon, Delta: paperDelta, Relation: b.relation},
		Dim:    dim, Composition: composition, Beta: paperBeta,
	})
	if err != nil {
		return vectorMethod{}, err
	}
	cost := s.Cost()
	return vectorMethod{
		name: sparseName, composition: composition.String(), bits: cost.Bits / cost.Messages, paper: paperSparse, paperMessages: paperSparseMessages,
		simulate: func(rng *rand.Rand) ([]float64, int64, error) {
			e, messages, err := s.Simulate(clients, rng)
			if err != nil {
				return nil, 0, err
			}
			return e.Value, messages, nil
		},
	}, nil
}

// naive has one BaseSum of inputs 0 and 1 for every item.
func naive(counts []float64, n int, epsilon float64, l logarithm) (vectorMethod, error) {
	d := float64(len(counts))
	s, err := hdsum.NewBaseSum(hdsum.Config{
		Clients: n, Epsilon: epsilon / math.Sqrt(d*l.of(2/paperDelta)), Delta: paperDelta / (2 * d), Relation: fl.ZeroOut,
	}, 1)
	if err != nil {
		return vectorMethod{}, err
	}
	cost := s.Cost()
	return vectorMethod{
		name: naiveName(l), bits: cost.Bits / cost.Messages, paper: paperNaive, paperMessages: paperNaiveMessages,
		simulate: func(rng *rand.Rand) ([]float64, int64, error) {
			got, messages := make([]float64, len(counts)), int64(0)
			for i, c := range counts {
				x, sent, err := s.SimulateCounts([]hdsum.Count{{Value: 0, Clients: int64(n) - int64(c)}, {Value: 1, Clients: int64(c)}}, rng)
				if err != nil {
					return nil, 0, err
				}
				got[i] = x
				messages += sent
			}
			return got, messages, nil
		},
	}, nil
}

// centralCounts cuts clients to their first 2^j items, so that two neighbours are √(2^j) apart, and
// adds Gaussian noise by the classical formula. The error that decides j is the cut's error plus
// the expected largest of d normal variables, σ·√(2·ln d).
func centralCounts(clients [][]int, counts []float64, epsilon float64) vectorMethod {
	best, sigma, cut := math.Inf(1), 0., counts
	for items := 1; ; items *= 2 {
		kept := make([]float64, len(counts))
		for _, held := range clients {
			for _, k := range held[:min(items, len(held))] {
				kept[k]++
			}
		}
		s := math.Sqrt(float64(items)*2*math.Log(1.25/paperDelta)) / epsilon
		if at := floats.Distance(kept, counts, math.Inf(1)) + s*math.Sqrt(2*math.Log(float64(len(counts)))); at < best {
			best, sigma, cut = at, s, kept
		}
		if items >= longest(clients) {
			break
		}
	}
	return vectorMethod{name: centralName, paper: paperSparseCentral, simulate: func(rng *rand.Rand) ([]float64, int64, error) {
		got := make([]float64, len(cut))
		for i, x := range cut {
			got[i] = x + sigma*rng.NormFloat64()
		}
		return got, 0, nil
	}}
}

// runCounts measures the largest error of a count.
func (m vectorMethod) runCounts(ctx context.Context, env experiment.Env, counts []float64, clients, repeats int, key uint64) (outcome, error) {
	return m.runWith(ctx, env, m.countLabel(), 55, func(got []float64) float64 {
		return 100 * floats.Distance(got, counts, math.Inf(1)) / floats.Max(counts)
	}, clients, repeats, key)
}
