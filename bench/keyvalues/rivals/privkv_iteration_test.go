package rivals

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/bigref"
)

// firstRound is the first of c rounds.
func firstRound(t testing.TB, dim int, epsilon float64, c int) fl.Round {
	return CompleteRound(t, PrivKVM, dim, epsilon, fl.Params{ParamRounds: fl.Int(c), ParamVirtual: fl.Int(0)})
}

func iteration(t testing.TB, first fl.Round, published ...float64) *Iteration {
	t.Helper()
	i, err := NewIteration(first, 2, published)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// choosing is an encoder of the first round or of an iteration.
type choosing func([]byte, []fl.KeyValue, exact.Chooser) ([]byte, error)

// laws are the probabilities of the reports of every input.
func laws(t *testing.T, encode choosing, inputs [][]fl.KeyValue) (all []map[string]*big.Rat) {
	t.Helper()
	for _, pairs := range inputs {
		law, err := exact.Enumerate(8, func(choose exact.Chooser) (string, error) {
			report, err := encode(nil, pairs, choose)
			return string(report), err
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, law)
	}
	return all
}

// ratio is the largest ratio of the probabilities of a report under two inputs.
func ratio(t *testing.T, one, two map[string]*big.Rat) *big.Rat {
	t.Helper()
	worst := new(big.Rat)
	for report, p := range one {
		if two[report] == nil {
			t.Fatalf("% x is not a report of the other input", report)
		}
		if r := new(big.Rat).Quo(p, two[report]); r.Cmp(worst) > 0 {
			worst = r
		}
	}
	return worst
}

// A report of an iteration is ε/(2c)-LDP for all published means. It attains that for inputs with values of
// −1 and 1. All c reports of a client together are ε-LDP: reports are drawn independently given what
// was published, and the ratios of two inputs multiply, whichever means are published. By exact
// enumeration of all inputs and reports.
func TestIterationsArePrivate(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 4, 15} {
		for dim := 1; dim <= 2; dim++ {
			for _, c := range []int{2, 4} {
				t.Run(fmt.Sprintf("eps=%g/d=%d/c=%d", eps, dim, c), func(t *testing.T) {
					r := firstRound(t, dim, eps, c)
					opened, err := fl.Open(r)
					if err != nil {
						t.Fatal(err)
					}
					inputs := [][]fl.KeyValue{nil}
					for key := range uint32(dim) {
						for _, pairs := range inputs[:len(inputs):len(inputs)] {
							for _, v := range []float64{-1, 0.3, 1} {
								inputs = append(inputs, append(pairs[:len(pairs):len(pairs)], fl.KeyValue{Key: key, Value: v}))
							}
						}
					}
					first := laws(t, opened.(*privKVMechanism).EncodeChoosing, inputs)
					// worst is the largest ratio of an iteration for two inputs, over the published means.
					worst, single := map[[2]int]*big.Rat{}, new(big.Rat)
					for _, published := range [][]float64{{-1, -1}, {1, -1}, {0, 0.5}, {-1, 1}, {1, 1}} {
						i := iteration(t, r, published[:dim]...)
						later := laws(t, i.encodeChoosing, inputs)
						for a := range later {
							if len(later[a]) != 2*dim {
								t.Fatalf("%d reports, want %d", len(later[a]), 2*dim)
							}
							for b := range later {
								at, found := [2]int{a, b}, ratio(t, later[a], later[b])
								if worst[at] == nil || found.Cmp(worst[at]) > 0 {
									worst[at] = found
								}
								if found.Cmp(single) > 0 {
									single = found
								}
							}
						}
					}
					if g := iteration(t, r, make([]float64, dim)...).Guarantee(); g != (fl.Guarantee{Trust: fl.Local, Epsilon: eps / 2 / float64(c), Relation: fl.ReplaceOne}) {
						t.Errorf("guarantee %+v", g)
					}
					if got, _ := single.Float64(); single.Cmp(bigref.LowerExp(eps/2/float64(c))) > 0 || math.Abs(got/math.Exp(eps/2/float64(c))-1) > 1e-6 {
						t.Errorf("worst ratio of an iteration %.9g, want e^(ε/2c) = %.9g and not above", got, math.Exp(eps/2/float64(c)))
					}
					total := new(big.Rat)
					for a := range first {
						for b := range first {
							all := ratio(t, first[a], first[b])
							for range c - 1 {
								all.Mul(all, worst[[2]int{a, b}])
							}
							if all.Cmp(total) > 0 {
								total = all
							}
						}
					}
					if total.Cmp(bigref.LowerExp(eps)) > 0 {
						t.Errorf("worst ratio of all reports %v, above e^ε", total.FloatString(12))
					}
				})
			}
		}
	}
}

// In the limit of many reports the bias of a mean shrinks by the factor 1−f in each iteration, and so to
// nothing: rounding to whole reports is all the error. It starts from the bias of the first round.
func TestIterationsTakeTheBiasAway(t *testing.T) {
	const n, c = 1e8, 40
	for _, eps := range []float64{4, 20} {
		for _, f := range []float64{0.1, 0.7, 1} {
			for _, m := range []float64{-1, 0.3} {
				r := firstRound(t, 1, eps, c)
				r.Scale = 2
				p, err := newProtocol(PrivKVM, eps, c, 0)
				if err != nil {
					t.Fatal(err)
				}
				k := expected(t, p, f, m)
				frequency, _ := p.frequency(k)
				mean := 2 * p.conditionalMean(k, frequency)
				bias := math.Abs(mean - 2*m)
				for number := 2; number <= c; number++ {
					i, err := NewIteration(r, number, []float64{mean})
					if err != nil {
						t.Fatal(err)
					}
					agg, up := i.NewAggregator(), 0.0
					for share, pairs := range map[float64][]fl.KeyValue{f: {{Value: m}}, 1 - f: nil} {
						law := laws(t, i.encodeChoosing, [][]fl.KeyValue{pairs})[0]
						probability, _ := law["\x00"].Float64()
						up += share * probability
					}
					signs := int32(math.Round(up * n))
					if err := agg.AddCounts([]PrivKVCounts{{Reports: n, Plus: signs, Minus: n - signs}}); err != nil {
						t.Fatal(err)
					}
					means, err := agg.Means()
					if err != nil {
						t.Fatal(err)
					}
					now := math.Abs(means[0] - 2*m)
					if math.Abs(now-(1-f)*bias) > 1e-6 {
						t.Errorf("ε = %g, f = %g, m = %g, iteration %d: a bias of %g after %g", eps, f, m, number, now, bias)
					}
					mean, bias = means[0], now
				}
				if f > 0.5 && bias > 1e-5 {
					t.Errorf("ε = %g, f = %g, m = %g: a bias of %g is left", eps, f, m, bias)
				}
			}
		}
	}
}

// Two rounds with real reports: key 0 is held by half of the clients with 0.8. The means of the second round
// are within 6 standard errors of 0.5·0.8 + 0.5·m', with a probability of 2e-9, and key 1, which nobody
// holds, keeps the mean that was published.
func TestIterationsOfRealReports(t *testing.T) {
	const n = 40_000
	r := firstRound(t, 2, 8, 2)
	i := iteration(t, r, 0.3, -0.6)
	agg, rng := i.NewAggregator(), rand.New(rand.NewChaCha8([32]byte{7}))
	for client := range n {
		var pairs []fl.KeyValue
		if client%2 == 0 {
			pairs = []fl.KeyValue{{Key: 0, Value: 0.8}}
		}
		report, err := i.EncodeKeyValues(nil, pairs, rng)
		if err := errors.Join(err, agg.Add(report)); err != nil {
			t.Fatal(err)
		}
	}
	means, err := agg.Means()
	if err != nil {
		t.Fatal(err)
	}
	gap := math.Tanh(8. / 2 / 2 / 2)
	for j, want := range []float64{0.5*0.8 + 0.5*0.3, -0.6} {
		if stderr := 1 / (gap * math.Sqrt(n/2)); math.Abs(means[j]-want) > 6*stderr {
			t.Errorf("key %d: %g, want %g ± %g", j, means[j], want, stderr)
		}
	}
}

// Estimates stay in the range, and a key without reports keeps its mean.
func TestMeansOfIterationsAreClamped(t *testing.T) {
	r := firstRound(t, 3, 1, 2)
	r.Scale = 5
	agg := iteration(t, r, 1, 2, 3).NewAggregator()
	if err := agg.AddCounts([]PrivKVCounts{{Reports: 4, Plus: 4}, {Reports: 4, Minus: 4}, {}}); err != nil {
		t.Fatal(err)
	}
	means, err := agg.Means()
	if err != nil || means[0] != 5 || means[1] != -5 || !(math.Abs(means[2]-3) < 1e-12) {
		t.Errorf("%v, %v", means, err)
	}
}

func TestBadIterationsAreRefused(t *testing.T) {
	good := firstRound(t, 2, 1, 3)
	for param, c := range map[string]struct {
		change    func(r *fl.Round)
		number    int
		published []float64
	}{
		"mechanism":    {func(r *fl.Round) { r.Mechanism = PrivKV }, 2, []float64{0, 0}},
		"epsilon":      {func(r *fl.Round) { r.Epsilon = math.NaN() }, 2, []float64{0, 0}},
		"number":       {nil, 1, []float64{0, 0}},
		"published":    {nil, 2, []float64{0}},
		"published[1]": {nil, 2, []float64{0, math.NaN()}},
		"published[0]": {nil, 3, []float64{-1.1, 0}},
	} {
		r := good
		if c.change != nil {
			c.change(&r)
		}
		var p *fl.ParamError
		if _, err := NewIteration(r, c.number, c.published); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v, want a ParamError for %s", err, param)
		}
	}
	if _, err := NewIteration(good, 4, []float64{0, 0}); err == nil {
		t.Error("a fourth of three rounds: want an error")
	}
	i := iteration(t, good, 0, 0)
	if out, err := i.EncodeKeyValues([]byte("x"), []fl.KeyValue{{Key: 2}}, nil); err == nil || string(out) != "x" {
		t.Errorf("a key too many: %q, %v", out, err)
	}
	agg := i.NewAggregator()
	for _, report := range [][]byte{nil, {4}, {0, 0}} {
		if err := agg.Add(report); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("% x: %v, want ErrBadReport", report, err)
		}
	}
	for _, counts := range [][]PrivKVCounts{{{}}, {{}, {Reports: 1}}, {{Reports: 1, Plus: 1, None: 1}, {}}, {{Reports: -1, Plus: -1}, {}}, {{Reports: 0, Plus: 1, Minus: -1}, {}}} {
		if err := agg.AddCounts(counts); err == nil {
			t.Errorf("%+v: want an error", counts)
		}
	}
	if _, err := agg.Means(); !errors.Is(err, fl.ErrNoReports) {
		t.Errorf("%v, want ErrNoReports", err)
	}
	full := []PrivKVCounts{{Reports: fl.MaxReports, Plus: fl.MaxReports}, {}}
	if err := agg.AddCounts(full); err != nil {
		t.Fatal(err)
	}
	if agg.Add([]byte{0}) == nil || agg.AddCounts([]PrivKVCounts{{}, {Reports: 1, Plus: 1}}) == nil {
		t.Error("a report too many: want an error")
	}
}
