package keyvalues

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// onRatings is Figure 10: data sets in which clients hold several pairs.
func onRatings() experiment.Experiment {
	return experiment.Experiment{
		Name:    "fig10-pckv",
		Title:   "PCKV: errors on ratings, of stand-ins for four data sets or of a file",
		Source:  pckvPaper + ", Figure 10",
		Without: []string{experiment.FlagData}, Settings: []string{"--repeats=3"}, // the paper has 5
		Bind: func(flags *flag.FlagSet) experiment.Run {
			path := flags.String("pairs", "", "CSV `file` with lines client,key,value, whose values are scaled to [-1, 1], instead of the stand-ins")
			padding := flags.Int("padding", 0, "padding length for the file; 0: chosen privately by a tenth of its clients, with ε = 1")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				switch {
				case *padding < 0 || *padding > fl.MaxDim:
					return nil, fl.Invalid("--padding", *padding, "must be in [0, %d]", fl.MaxDim)
				case *padding > 0 && *path == "":
					return nil, fl.Invalid("--padding", *padding, "needs --pairs; the stand-ins have the paper's")
				case *path != "":
					return runFile(ctx, env, *path, *padding)
				}
				return runStandIns(ctx, env)
			}
		},
	}
}

// quickShare is the part of the larger stand-ins that a quick run has.
const quickShare = 40

func runStandIns(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	s := ratingSweep(env)
	var texts []string
	for _, in := range standIns {
		if env.Quick && in.users > 50_000 {
			in = in.smaller(quickShare)
		}
		s.sources = append(s.sources, source{in.name, in.keys, in.padding, in.open})
		texts = append(texts, in.String())
	}
	s.notes = []string{lawOfStandIns, strings.Join(texts, "; ") + "."}
	r, points, err := s.onSources(ctx, env)
	if err != nil {
		return nil, err
	}
	r.Verdicts = s.claimsOfRatings(points)
	return r, nil
}

// runFile is the same with the data of a file, about which there are no claims but that PCKV is better.
func runFile(ctx context.Context, env experiment.Env, path string, padding int) (*experiment.Result, error) {
	p, err := readPairsFile(ctx, path)
	if err != nil {
		return nil, err
	}
	s, name := ratingSweep(env), filepath.Base(path)
	if padding == 0 {
		if padding, err = privatePadding(p, experiment.Stream(env.Seed, 64)); err != nil {
			return nil, err
		}
	}
	s.sources = []source{{name, p.dim, padding, func(*rand.Rand) (dataset, error) { return p, nil }}}
	s.notes = []string{fmt.Sprintf("%s: %d ratings, %d users, %d keys, ℓ = %d.", name, len(p.pairs), p.clients(), p.dim, padding)}
	r, points, err := s.onSources(ctx, env)
	if err != nil {
		return nil, err
	}
	for gauge := range s.gauges {
		r.Verdicts = append(r.Verdicts, s.best(points, gauge, name))
	}
	return r, nil
}

// ratingSweep has no sources yet.
func ratingSweep(env experiment.Env) sweep {
	s := sweep{
		number:   10,
		title:    "errors on ratings",
		epsilons: []float64{1, 2, 3, 4, 5, 6},
		rivals:   []rival{privkvmOne, kvue, pckvUE, pckvGRR},
		gauges:   []gauge{{frequency, 50}, {mean, 50}},
		repeats:  env.RepeatsOr(paperRepeats),
	}
	if env.Quick {
		s.epsilons = []float64{1, 4}
	}
	return s
}

// onSources runs the sweep, with panels and a private choice of padding for every source.
func (s *sweep) onSources(ctx context.Context, env experiment.Env) (*experiment.Result, []*point, error) {
	for _, from := range s.sources {
		for gauge := range s.gauges {
			s.views = append(s.views, view{title: fmt.Sprintf("%s, ℓ = %d", from.name, from.padding), source: from.name, gauge: gauge})
		}
	}
	points, err := s.run(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	r := s.report(points)
	for _, from := range s.sources {
		chosen, err := env.Checkpoint.Do("padding "+from.name, func() ([]float64, error) {
			data, err := from.open(experiment.Stream(env.Seed, 62, textNumber(from.name), uint64(from.dim), 0))
			if err != nil {
				return nil, err
			}
			p := data.(*ratings)
			private, err := privatePadding(p, experiment.Stream(env.Seed, 64, textNumber(from.name)))
			return []float64{float64(private), float64(p.sizeQuantile(sizeShare))}, err
		})
		if err != nil {
			return nil, nil, err
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%s: 90 %% of the clients hold at most %g pairs. A private choice of ℓ, by a tenth of the clients with ε = 1, gives %g. The measured rounds have all clients.", from.name, chosen[1], chosen[0]))
	}
	r.Plot.Title = "PCKV: " + s.title
	return r, points, nil
}

// sizeShare is the share of the clients that the padding length is to be enough for.
const sizeShare = 0.9

// privatePadding chooses ℓ by reports of a random tenth of the clients about how many pairs they hold.
func privatePadding(p *ratings, rng *rand.Rand) (int, error) {
	const largest, one = 1000, 10 // client of ten
	classes, err := keyvalue.SizeClasses(min(largest, p.dim))
	if err != nil {
		return 0, err
	}
	o, err := openRound(fl.Round{
		ID: "sizes", Mechanism: keyvalue.PCKVUE, Dim: len(classes), Scale: 1, Epsilon: 1, MinReports: 1,
		Columns: []string{fl.ColumnFrequency}, Params: fl.Params{keyvalue.ParamPadding: fl.Int(1)},
	}, rng)
	if err != nil {
		return 0, err
	}
	for client := range p.clients() {
		if rng.IntN(one) > 0 {
			continue
		}
		report, err := o.mechanism.(fl.KeyValueMechanism).EncodeKeyValues(nil, []fl.KeyValue{keyvalue.SizePair(len(p.of(client)), classes)}, rng)
		if err != nil {
			return 0, err
		}
		if err := o.agg.Add(report); err != nil {
			return 0, err
		}
	}
	e, err := o.agg.Estimate()
	if err != nil {
		return 0, err
	}
	return keyvalue.PaddingFromSizes(e, classes, sizeShare)
}

// noRatings is why no claim about Figure 10 is settled.
const noRatings = "the data need a download or an account, and the stand-ins have only their numbers of ratings, users and keys"

// claimsOfRatings are those about Figure 10: PCKV-UE is best on the first three data sets, and on the
// fourth PCKV-GRR, where both are better than the others; and how the errors of sets compare.
func (s *sweep) claimsOfRatings(points []*point) (out []experiment.Verdict) {
	for i, from := range s.sources {
		movie := i == len(s.sources)-1
		for gauge, g := range s.gauges {
			value := func(r rival, epsilon float64) float64 {
				return find(points, from.name, from.dim, epsilon, r.label).value(gauge).Value
			}
			if !movie {
				out = append(out, s.first(points, from, gauge, []rival{pckvUE}, "In the first three datasets, PCKV-UE has the best performance",
					fmt.Sprintf("PCKV-UE has the smallest %s, %s", g.title(), g.scope()), func(epsilon float64) bool {
						return value(pckvUE, epsilon) < min(value(pckvGRR, epsilon), value(privkvmOne, epsilon), value(kvue, epsilon))
					}))
				continue
			}
			out = append(out, s.first(points, from, gauge, []rival{pckvGRR}, "it outperforms PCKV-UE in both frequency and mean estimation",
				fmt.Sprintf("PCKV-GRR has a smaller %s, %s, than PCKV-UE", g.title(), g.scope()), func(epsilon float64) bool {
					return value(pckvGRR, epsilon) < value(pckvUE, epsilon)
				}), s.first(points, from, gauge, []rival{pckvUE, pckvGRR}, "PCKV-UE and PCKV-GRR have less MSEs compared with other mechanisms",
				fmt.Sprintf("PCKV-UE and PCKV-GRR have a smaller %s, %s, than the others", g.title(), g.scope()), func(epsilon float64) bool {
					return max(value(pckvGRR, epsilon), value(pckvUE, epsilon)) < min(value(privkvmOne, epsilon), value(kvue, epsilon))
				}))
		}
	}
	if len(s.sources) < 3 {
		return out
	}
	shop, clothing, amazon := s.sources[0], s.sources[1], s.sources[2]
	return append(out,
		s.between(points, amazon, clothing, 0, pckvUE, span{0, 1}, "MSE […] in Amazon dataset is smaller"),
		s.between(points, amazon, clothing, 1, pckvUE, span{1, math.Inf(1)}, "MSE […] is larger (due to the small true frequencies)"),
		s.between(points, clothing, shop, 0, pckvUE, span{0.5, 2}, "MSEs of Clothing dataset do not change very much"),
		s.between(points, clothing, shop, 1, pckvUE, span{0.5, 2}, "MSEs of Clothing dataset do not change very much"))
}

// first is a claim about an order at every ε on one data set, with the margin of the best mechanisms: by how much the best of the others is
// worse than the worst of them.
func (s *sweep) first(points []*point, from source, gauge int, best []rival, quote, claim string, ordered func(epsilon float64) bool) experiment.Verdict {
	var pairs [][2]*point
	var not []string
	for _, epsilon := range s.epsilons {
		var next, worst *point
		for _, r := range s.rivals {
			p := find(points, from.name, from.dim, epsilon, r.label)
			if slices.ContainsFunc(best, func(b rival) bool { return b.label == r.label }) {
				if worst == nil || p.value(gauge).Value > worst.value(gauge).Value {
					worst = p
				}
			} else if next == nil || p.value(gauge).Value < next.value(gauge).Value {
				next = p
			}
		}
		pairs = append(pairs, [2]*point{next, worst})
		if !ordered(epsilon) {
			not = append(not, fmt.Sprintf("%g", epsilon))
		}
	}
	v := experiment.Verdict{
		Claim:   fmt.Sprintf("Figure 10, %s: %s", from.name, claim),
		Section: "6.2", Quote: quote, Criterion: "at every ε", Missing: noRatings,
		Holds: len(not) == 0,
		Ours:  fmt.Sprintf("on a stand-in at %d of %d ε", len(pairs)-len(not), len(pairs)),
	}
	of := best[0].label
	if len(best) > 1 {
		of = "the worse one of " + of + " and " + best[1].label
	}
	v.Detail = fmt.Sprintf("the next best one has %s of %s in the geometric mean", times(s.geometric(pairs, gauge)), of)
	if len(not) > 0 {
		v.Detail += "; not at ε = " + strings.Join(not, ", ")
	}
	return v
}

// between compares the errors of a mechanism on two data sets.
func (s *sweep) between(points []*point, a, b source, gauge int, r rival, want span, quote string) experiment.Verdict {
	var pairs [][2]*point
	for _, epsilon := range s.epsilons {
		pairs = append(pairs, [2]*point{find(points, a.name, a.dim, epsilon, r.label), find(points, b.name, b.dim, epsilon, r.label)})
	}
	ratio := s.geometric(pairs, gauge)
	return experiment.Verdict{
		Claim:   fmt.Sprintf("Figure 10, %s and %s: how the %s of %s compares", a.name, b.name, s.gauges[gauge].title(), r.label),
		Section: "6.2", Quote: quote, Criterion: fmt.Sprintf("%g to %g times, geometric mean over ε", want.low, want.high), Missing: noRatings,
		Holds: want.holds(ratio.Value),
		Ours:  "on stand-ins " + times(ratio),
	}
}
