package shares

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// All draws are seeded. Were they not, each of the 120 chi-square tests of this package would
// fail with probability 5e-8: below 1e-5 in all.
const chiSquareLevel = 5e-8

// requireCounts compares counts with what is expected, both with one sum.
func requireCounts(t *testing.T, name string, counts, expected []float64) {
	t.Helper()
	statistic := 0.
	for i, e := range expected {
		if e < 10 {
			t.Fatalf("%s: bin %d expects %g", name, i, e)
		}
		statistic += (counts[i] - e) * (counts[i] - e) / e
	}
	if limit := (distuv.ChiSquared{K: float64(len(counts) - 1)}).Quantile(1 - chiSquareLevel); !(statistic <= limit) {
		t.Errorf("%s: chi-square %.1f of %d bins, limit %.1f\ncounts   %.0f\nexpected %.1f", name, statistic, len(counts), limit, counts, expected)
	}
}

// shared sends one report of every gradient through two servers and combines their sums.
func shared(t *testing.T, m *mechanism, seed byte, gradients [][]float64) *fl.Estimate {
	t.Helper()
	rng := newRand(seed)
	sides := newServers(t, m)
	for i, grad := range gradients {
		first, second, err := m.EncodeShares(nil, nil, grad, rng)
		if err != nil {
			t.Fatal(err)
		}
		sides.add(t, fmt.Appendf(nil, "report %d", i), first, second)
	}
	e, err := m.Combine(sides.release(t))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The sum of the two servers' sums is one central curator's: the sum of the inputs
// with discrete Laplace noise, in each of 64 coordinates of 600 rounds, for clients that
// share inputs of +1, −1 and +1.
func TestTwoServersHaveTheNoiseOfACentralCurator(t *testing.T) {
	const rounds, dim = 600, 64
	for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		r := oneLevel(dim, 3)
		r.Epsilon, r.Relation = 20, relation
		m := open(t, r)
		law := sample.DiscreteLaplace{Eta: m.noise.Eta}
		edge := int64(2 / m.noise.Eta)
		bin := func(z int64) int { return int((min(max(z, -edge), edge) + edge)) }
		counts, expected := make([]float64, 2*edge+1), make([]float64, 2*edge+1)
		for z := -edge; z <= edge; z++ {
			expected[bin(z)] = rounds * dim * law.Prob(z)
		}
		expected[0] = rounds * dim * law.CDF(-edge)
		expected[len(expected)-1] = expected[0]

		rng := newRand(4)
		// The rotation of one coordinate is ±v in all 64: clipped to ±1 by a range of 1.
		unit := func(v float64) []float64 {
			grad := make([]float64, dim)
			grad[0] = 100 * v
			return grad
		}
		signs := make([]int64, dim)
		x, err := m.quantizer.Quantize(unit(1), rng)
		if err != nil {
			t.Fatal(err)
		}
		copy(signs, x)
		for range rounds {
			sides := newServers(t, m)
			for i, v := range []float64{1, -1, 1} {
				first, second, err := m.EncodeShares(nil, nil, unit(v), rng)
				if err != nil {
					t.Fatal(err)
				}
				sides.add(t, []byte{byte(i)}, first, second)
			}
			first, second := sides.first.(*server), sides.second.(*server)
			for i, sign := range signs {
				if sign != 1 && sign != -1 {
					t.Fatalf("coordinate %d has the input %d", i, sign)
				}
				sum := m.ring.signed(first.sums[i] + second.sums[i])
				counts[bin(sum-sign)]++
			}
		}
		requireCounts(t, relation.String(), counts, expected)
	}
}

// Each server's share is uniform: every byte of a seed, and the lowest and highest four bits of every
// number of the second server's share, whatever the gradient.
func TestEveryShareIsUniform(t *testing.T) {
	const reports = 4000
	m := open(t, oneLevel(16, 3))
	rng := newRand(5)
	for name, v := range map[string]float64{"up": 1e3, "down": -1e3} {
		seeds := make([]float64, 256)
		low, high := make([][16]float64, 16), make([][16]float64, 16)
		grad := make([]float64, 16)
		grad[0] = v
		for range reports {
			first, second, err := m.EncodeShares(nil, nil, grad, rng)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range first {
				seeds[b]++
			}
			for i := range low {
				number := m.ring.at(second, i)
				low[i][number%16]++
				high[i][number>>(m.ring.bits-4)]++
			}
		}
		requireUniform(t, name+", seeds", seeds)
		for i := range low {
			requireUniform(t, fmt.Sprintf("%s, low bits of %d", name, i), low[i][:])
			requireUniform(t, fmt.Sprintf("%s, high bits of %d", name, i), high[i][:])
		}
	}
}

func requireUniform(t *testing.T, name string, counts []float64) {
	t.Helper()
	total := 0.
	for _, c := range counts {
		total += c
	}
	expected := make([]float64, len(counts))
	for i := range expected {
		expected[i] = total / float64(len(counts))
	}
	requireCounts(t, name, counts, expected)
}

// Two servers and one aggregator of whole reports give one estimate.
func TestBothViewsGiveOneEstimate(t *testing.T) {
	m := open(t, testRound(20))
	gradients := make([][]float64, 7)
	input := newRand(6)
	for i := range gradients {
		gradients[i] = make([]float64, 20)
		for j := range gradients[i] {
			gradients[i][j] = input.NormFloat64()
		}
	}
	e := shared(t, m, 7, gradients)
	rng, whole := newRand(7), m.NewAggregator()
	for _, grad := range gradients {
		report, err := m.Encode(nil, grad, rng)
		if err == nil {
			err = whole.Add(report)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := whole.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	got := e.Mean()
	for j, v := range want.Mean().Value {
		if got.Value[j] != v || got.StdErr[j] != want.Mean().StdErr[j] || math.IsNaN(v) {
			t.Errorf("coordinate %d: %g ± %g, want %g", j, got.Value[j], got.StdErr[j], v)
		}
	}
	if e.Reports != 7 || e.Guarantee != m.Guarantee() || e.Mechanism != Name {
		t.Errorf("%+v", e)
	}
}
