package keyvalue

import (
	"flag"
	"fmt"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/bigref"
)

var long = flag.Bool("long", false, "enumerate the reports of three coordinates at every ε")

// bernoulliGaps is the geometric law by one trial per position: a finite tree.
type bernoulliGaps struct{ hits, total uint64 }

func (b bernoulliGaps) gap(limit uint64, choose exact.Chooser) uint64 {
	for i := range limit {
		if choose.Weighted([]uint64{b.hits, b.total - b.hits}) == 0 {
			return i
		}
	}
	return limit
}

// build returns the randomizer of a mechanism with an enumerable background, and the
// number of its reports.
func build(t *testing.T, name string, epsilon float64, dim, padding int) (pckvRandomizer, int) {
	t.Helper()
	m := pckvOpen(t, name, dim, padding, epsilon)
	u, ok := m.pckvRandomizer.(*pckvUnary)
	if !ok {
		return m.pckvRandomizer, 2 * (dim + padding)
	}
	g := u.background.(geometric)
	reports := 1
	for range dim {
		reports *= 3
	}
	return &pckvUnary{dim: dim, weights: u.weights, background: bernoulliGaps{g.hits, g.total}}, reports
}

func pckvOpen(t testing.TB, name string, dim, padding int, epsilon float64) *pckvMechanism {
	t.Helper()
	r := CompleteRound(t, name, dim, epsilon, fl.Params{ParamPadding: fl.Int(padding)})
	r.Columns = Columns()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := m.(*sized); ok {
		return s.pckvMechanism
	}
	return m.(*pckvMechanism)
}

// allInputs lists every set of pairs over dim keys and a grid of values.
func allInputs(dim int) [][]fl.KeyValue {
	inputs := [][]fl.KeyValue{nil}
	for key := range uint32(dim) {
		for _, pairs := range inputs {
			for _, v := range []float64{-1, 0, 0.3, 1} {
				inputs = append(inputs, append(pairs[:len(pairs):len(pairs)], fl.KeyValue{Key: key, Value: v}))
			}
		}
	}
	return inputs
}

// worst returns the largest ratio of two inputs' probabilities of a report. The law of
// a report is composed of the laws of Algorithm 1 and of the perturbation.
func worst(t *testing.T, r pckvRandomizer, reports, dim, padding int) *big.Rat {
	t.Helper()
	perturbed := map[signedKey]map[string]*big.Rat{}
	for key := range dim + padding {
		for _, minus := range []bool{false, true} {
			sent := signedKey{key, minus}
			law, err := exact.Enumerate(64, func(choose exact.Chooser) (string, error) {
				return string(r.perturb(nil, sent, choose)), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			perturbed[sent] = law
		}
	}
	low, high := map[string]*big.Rat{}, map[string]*big.Rat{}
	for _, pairs := range allInputs(dim) {
		sampled, err := exact.Enumerate(64, func(choose exact.Chooser) (signedKey, error) {
			return padAndSample(pairs, dim, padding, choose), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		law, sum := map[string]*big.Rat{}, new(big.Rat)
		for sent, p := range sampled {
			for report, q := range perturbed[sent] {
				pq := new(big.Rat).Mul(p, q)
				sum.Add(sum, pq)
				if law[report] == nil {
					law[report] = new(big.Rat)
				}
				law[report].Add(law[report], pq)
			}
		}
		if len(law) != reports || sum.Cmp(big.NewRat(1, 1)) != 0 {
			t.Fatalf("%v: %d reports with probability %v, want %d with 1", pairs, len(law), sum, reports)
		}
		for report, p := range law {
			if low[report] == nil || p.Cmp(low[report]) < 0 {
				low[report] = p
			}
			if high[report] == nil || p.Cmp(high[report]) > 0 {
				high[report] = p
			}
		}
	}
	ratio := new(big.Rat)
	for report := range low {
		if r := new(big.Rat).Quo(high[report], low[report]); r.Cmp(ratio) > 0 {
			ratio = r
		}
	}
	return ratio
}

// The largest ratio over all inputs and reports is at most e^ε, and within 1e-9 of what
// the theorems say: e^ε, but 1+(e^ε−1)/ℓ for PCKV-GRR without the gain of padding.
func TestReportsAreDifferentiallyPrivate(t *testing.T) {
	for _, name := range []string{PCKVUE, PCKVGRR, PCKVAGRR} {
		for dim := 1; dim <= 3; dim++ {
			for padding := 1; padding <= dim; padding++ {
				for _, epsilon := range []float64{0.05, 1, 4} {
					if dim == 3 && epsilon != 1 && !*long {
						continue
					}
					r, reports := build(t, name, epsilon, dim, padding)
					limit := bigref.LowerExp(epsilon)
					got := worst(t, r, reports, dim, padding)
					if got.Cmp(limit) > 0 {
						t.Errorf("%s, dim %d, padding %d, ε %g: ratio %v exceeds e^ε", name, dim, padding, epsilon, got.FloatString(12))
					}
					if name == PCKVGRR {
						one := big.NewRat(1, 1)
						limit.Sub(limit, one).Quo(limit, big.NewRat(int64(padding), 1)).Add(limit, one)
					}
					if tight := new(big.Rat).Quo(got, limit); tight.Cmp(big.NewRat(999_999_999, 1_000_000_000)) < 0 {
						t.Errorf("%s, dim %d, padding %d, ε %g: ratio %v, want %v", name, dim, padding, epsilon, got.FloatString(12), limit.FloatString(12))
					}
				}
			}
		}
	}
}

// Clients with fewer pairs than ℓ, as many and more: every pair is taken with
// probability 1/max(|S|, ℓ), a dummy with the rest, and + with probability (1+v)/2.
func TestPadAndSampleHasTheLawOfAlgorithm1(t *testing.T) {
	pairs := []fl.KeyValue{{Key: 0, Value: 0.25}, {Key: 2, Value: -1}, {Key: 3, Value: 0}}
	for padding := 1; padding <= 5; padding++ {
		law, err := exact.Enumerate(64, func(choose exact.Chooser) (signedKey, error) {
			return padAndSample(pairs, 4, padding, choose), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		each := big.NewRat(1, int64(max(3, padding)))
		want := map[signedKey]*big.Rat{}
		for sent, p := range map[signedKey]*big.Rat{
			{0, false}: big.NewRat(5, 8), {0, true}: big.NewRat(3, 8), {2, true}: big.NewRat(1, 1),
			{3, false}: big.NewRat(1, 2), {3, true}: big.NewRat(1, 2),
		} {
			want[sent] = p.Mul(p, each)
		}
		if padding > 3 {
			for dummy := range padding {
				p := big.NewRat(int64(padding-3), int64(2*padding*padding))
				want[signedKey{4 + dummy, false}], want[signedKey{4 + dummy, true}] = p, p
			}
		}
		if len(law) != len(want) {
			t.Errorf("padding %d: %d outcomes, want %d", padding, len(law), len(want))
		}
		for sent, p := range want {
			if law[sent] == nil || law[sent].Cmp(p) != 0 {
				t.Errorf("padding %d: %+v has probability %v, want %v", padding, sent, law[sent], p)
			}
		}
	}
}

func TestWeightsKeepThePromise(t *testing.T) {
	for _, epsilon := range []float64{1e-9, 0.01, 1, 20} {
		for _, gain := range []int{1, 7, 1 << 20} {
			for _, others := range []uint64{3, 1001, 1 << 28} {
				name := fmt.Sprintf("ε %g, gain %d, others %d", epsilon, gain, others)
				w, err := newWeights(epsilon, gain, others)
				if err != nil {
					if others < 1<<28 || epsilon > 1e-9 {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				// (high−low)/low ≤ gain·(e^ε−1) < (high−low+1)/low.
				limit := bigref.LowerExp(epsilon)
				limit.Sub(limit, big.NewRat(1, 1)).Mul(limit, big.NewRat(int64(gain), 1)).Mul(limit, new(big.Rat).SetUint64(w.low))
				if excess := new(big.Rat).SetUint64(w.high - w.low); excess.Cmp(limit) > 0 ||
					excess.Add(excess, big.NewRat(1, 1)).Cmp(limit) <= 0 {
					t.Errorf("%s: high %d, low %d", name, w.high, w.low)
				}
				if total := float64(w.high) + float64(others)*float64(w.low); total > maxTotal || total < maxTotal/4 {
					t.Errorf("%s: total %g", name, total)
				}
			}
		}
	}
}
