package privunit

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/privacy"
)

func open(t testing.TB, r fl.Round) *mechanism {
	t.Helper()
	r.ID, r.Mechanism, r.MinReports, r.PublicSeed = "r", Name, max(r.MinReports, 1), [32]byte{1}
	_, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*mechanism)
}

func small(t testing.TB, dim int, epsilon float64, candidates, likely int) *mechanism {
	t.Helper()
	return open(t, fl.Round{Dim: dim, Scale: 2, Epsilon: epsilon, Params: fl.Params{ParamCandidates: fl.Int(candidates), ParamLikely: fl.Int(likely)}})
}

// inputs are gradients in all directions of a grid, shorter than Scale and longer.
func inputs(dim int) (out [][]float64) {
	var x []float64
	var grow func()
	grow = func() {
		if len(x) == dim {
			for _, size := range []float64{0.3, 1, 1e6} {
				y := make([]float64, dim)
				for j, v := range x {
					y[j] = size * v
				}
				out = append(out, y)
			}
			return
		}
		for _, v := range []float64{-2, -1, 0, 1.5} {
			x = append(x, v)
			grow()
			x = x[:len(x)-1]
		}
	}
	grow()
	return out
}

// law is the exact law of the candidate's number, enumerated from the code.
func lawOf(t *testing.T, m *mechanism, x []float64, seed uint32) []*big.Rat {
	t.Helper()
	choose, err := m.Prepare(x, seed)
	if err != nil {
		t.Fatal(err)
	}
	byReport, err := exact.Enumerate(1<<10, func(c exact.Chooser) (uint32, error) {
		report, err := m.codec.Parse(choose(nil, c))
		if err == nil && report.Seed != seed {
			err = fmt.Errorf("seed %d", report.Seed)
		}
		return report.Slot, err
	})
	if err != nil {
		t.Fatal(err)
	}
	law, sum := make([]*big.Rat, m.point.Candidates), new(big.Rat)
	for i := range law {
		if law[i] = byReport[uint32(i)]; law[i] == nil {
			t.Fatalf("input %v, seed %d: candidate %d is impossible", x, seed, i)
		}
		sum.Add(sum, law[i])
	}
	if sum.Cmp(big.NewRat(1, 1)) != 0 {
		t.Fatalf("input %v, seed %d: probabilities sum to %v", x, seed, sum)
	}
	return law
}

// ε-LDP by exhaustion of all choices, for every pair of gradients of a grid, and with equality for some.
func TestLocalPrivacyByEnumeration(t *testing.T) {
	seeds := uint32(4)
	if *long {
		seeds = 8
	}
	for _, c := range []struct{ dim, candidates, likely int }{{1, 2, 1}, {2, 4, 1}, {2, 5, 2}, {3, 8, 3}, {3, 3, 2}} {
		for _, epsilon := range []float64{0.1, 1, 5} {
			m := small(t, c.dim, epsilon, c.candidates, c.likely)
			worst := new(big.Rat)
			for seed := range seeds {
				low, high := make([]*big.Rat, c.candidates), make([]*big.Rat, c.candidates)
				for _, x := range inputs(c.dim) {
					for i, p := range lawOf(t, m, x, seed) {
						if low[i] == nil || p.Cmp(low[i]) < 0 {
							low[i] = p
						}
						if high[i] == nil || p.Cmp(high[i]) > 0 {
							high[i] = p
						}
					}
				}
				for i := range low {
					if ratio := new(big.Rat).Quo(high[i], low[i]); ratio.Cmp(worst) > 0 {
						worst = ratio
					}
				}
			}
			promised := new(big.Rat).SetFrac(exact.LowerExp(epsilon), new(big.Int).Lsh(big.NewInt(1), 160))
			if got, _ := worst.Float64(); worst.Cmp(promised) > 0 || math.Log(got) < epsilon-1e-6 {
				t.Errorf("%+v: the largest ratio is e^%v, want e^%v at most and nearly that", c, math.Log(got), epsilon)
			}
			t.Logf("%+v: %d gradients, %d seeds, the largest ratio of two probabilities is %s, and e^%g is %.9f", c, len(inputs(c.dim)), seeds, worst.FloatString(9), epsilon, math.Exp(epsilon))
		}
	}
}

// Shuffled reports of three clients under one seed, all laws exact: the largest hockey-stick divergence over the victim's
// inputs and the others' is within the bound, and more than half of it.
func TestAmplificationIsAnUpperBound(t *testing.T) {
	const k, epsilon, n = 4, 1.0, 3
	m := small(t, 2, epsilon, k, 1)
	var laws [][]float64
	for _, x := range inputs(2) {
		law := make([]float64, k)
		for i, p := range lawOf(t, m, x, 5) {
			law[i], _ = p.Float64()
		}
		if !slices.ContainsFunc(laws, func(other []float64) bool { return slices.Equal(law, other) }) {
			laws = append(laws, law)
		}
	}
	for _, central := range []float64{0.1, 0.5, 0.8} {
		q, worst := math.Exp(central), 0.0
		for _, b := range laws {
			for _, c := range laws {
				for _, x := range laws {
					for _, y := range laws {
						worst = max(worst, divergence(k, q, x, y, b, c))
					}
				}
			}
		}
		bound, err := m.Shuffled().Delta(n, central)
		if err != nil {
			t.Fatal(err)
		}
		if worst > bound || worst < bound/2 {
			t.Errorf("ε_c = %g: δ = %g, and %g was found", central, bound, worst)
		}
	}
}

// divergence is E (P − q·Q)₊ over the histograms of three reports, one with the law x or y and two with laws b and c.
func divergence(k int, q float64, x, y, b, c []float64) float64 {
	difference := make([]float64, k*k*k)
	for v := range k {
		for i := range k {
			for j := range k {
				sorted := [3]int{min(v, i, j), 0, max(v, i, j)}
				sorted[1] = v + i + j - sorted[0] - sorted[2]
				difference[sorted[0]+k*(sorted[1]+k*sorted[2])] += (x[v] - q*y[v]) * b[i] * c[j]
			}
		}
	}
	total := 0.0
	for _, d := range difference {
		total += max(d, 0)
	}
	return total
}

// The accountant has the blanket of r of k slots.
func TestAmplificationIsTheBlanketOfTheWeights(t *testing.T) {
	m := open(t, fl.Round{Dim: 650, Scale: 1, Epsilon: 4})
	want, err := privacy.NewBlanket(4, 17, 256)
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Shuffled().Epsilon(10_000, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Epsilon(10_000, 1e-6)
	if err != nil || a != b || m.Guarantee() != (fl.Guarantee{Trust: fl.Local, Epsilon: 4, Relation: fl.ReplaceOne}) {
		t.Errorf("ε_c = %g, want %g (%v), %v", a, b, err, m.Guarantee())
	}
}

// Directions have the weights (1 ± ρ)/2, and a gradient of zeros has the first coordinate's direction.
func TestShortGradientsAreMixed(t *testing.T) {
	m := small(t, 2, 1, 4, 1)
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{0, 0}, 0.5}, {[]float64{1, 0}, 0.75}, {[]float64{0, -2}, 1}, {[]float64{3e200, 4}, 1}, {[]float64{5e-324, 0}, 0.5}} {
		e := m.newEncoder()
		if err := e.rank(c.x, 1); err != nil {
			t.Fatal(err)
		}
		if got := float64(e.signs[0]) / signUnits; got != c.want || e.signs[0]+e.signs[1] != signUnits {
			t.Errorf("%v: probability %v, want %v", c.x, got, c.want)
		}
	}
	zeros, first := m.newEncoder(), m.newEncoder()
	for seed := range uint32(20) {
		if err := errors.Join(zeros.rank([]float64{0, 0}, seed), first.rank([]float64{1, 0}, seed)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(zeros.ranking, first.ranking) {
			t.Errorf("seed %d: %v, want %v", seed, zeros.ranking, first.ranking)
		}
	}
}

// A report in the opposite direction has the ranks from the other end: the law of a gradient of ρ times the limit is the exact mix.
func TestTheOppositeDirectionHasTheOppositeRanks(t *testing.T) {
	m := small(t, 2, 1, 5, 2)
	share := func(rank int) *big.Rat {
		if rank < m.point.Likely {
			return new(big.Rat).SetFrac(new(big.Int).SetUint64(m.weights.High), new(big.Int).SetUint64(m.weights.Total))
		}
		return new(big.Rat).SetFrac(new(big.Int).SetUint64(m.weights.Low), new(big.Int).SetUint64(m.weights.Total))
	}
	for _, c := range []struct {
		x   []float64
		rho *big.Rat
	}{{[]float64{0, 0}, new(big.Rat)}, {[]float64{0, 1}, big.NewRat(1, 2)}, {[]float64{2, 0}, big.NewRat(1, 1)}} {
		law, e := lawOf(t, m, c.x, 3), m.newEncoder()
		if err := e.rank(c.x, 3); err != nil {
			t.Fatal(err)
		}
		for rank, candidate := range e.ranking {
			along, against := share(rank), share(len(e.ranking)-1-rank)
			want := new(big.Rat).Add(along, against) // ((1 + ρ)·along + (1 − ρ)·against)/2
			want.Add(want, new(big.Rat).Mul(c.rho, new(big.Rat).Sub(along, against)))
			if want.Quo(want, big.NewRat(2, 1)); law[candidate].Cmp(want) != 0 {
				t.Errorf("%v, rank %d: probability %v, want %v", c.x, rank, law[candidate], want)
			}
		}
	}
}
