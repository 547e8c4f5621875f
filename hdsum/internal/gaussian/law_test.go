package gaussian

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
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

// Each server's share is uniform: every byte of a seed, and the lowest and highest four bits of every
// number of the second server's share, whatever the gradient.
func TestEveryShareIsUniform(t *testing.T) {
	const reports = 4000
	m := open(t, testRound(16))
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
				number := ringOf(m).at(second, i)
				low[i][number%16]++
				high[i][number>>(ringOf(m).bits-4)]++
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

// Two servers, and one aggregator of whole reports, estimate the same mean within their errors: 7 clients with one gradient. Standard
// errors are exact but for the rounding, and 40 normal variables are all within 6 of them but with probability 8e-8.
func TestBothViewsEstimateTheMean(t *testing.T) {
	m := open(t, testRound(20))
	grad := make([]float64, 20)
	for j := range grad {
		grad[j] = 0.1 * float64(j%5)
	}
	rng, whole := newRand(7), m.NewAggregator()
	for range 7 {
		report, err := m.Encode(nil, grad, rng)
		if err == nil {
			err = whole.Add(report)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	one, err := whole.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	again, err := whole.Estimate()
	if err != nil || !slices.Equal(again.Mean().Value, one.Mean().Value) {
		t.Errorf("the same aggregator estimates anew: %v", err)
	}
	for name, e := range map[string]*fl.Estimate{"two servers": shared(t, m, 7, slices.Repeat([][]float64{grad}, 7)), "one": one} {
		mean := e.Mean()
		for j, v := range mean.Value {
			if !(math.Abs(v-grad[j]) <= 6*mean.StdErr[j]) {
				t.Errorf("%s, coordinate %d: %g ± %g, want %g", name, j, v, mean.StdErr[j], grad[j])
			}
		}
		if e.Reports != 7 || e.Guarantee != m.Guarantee() || e.Mechanism != SharesName {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// Vectors of gradients as long as the clip keep what is along the gradient: all but .01 at most. With proofs the range cuts what a normal
// variable has beyond three standard deviations, .0027 of its variance. Other gradients are as long in other directions. A coordinate of a vector
// has a variance of at most 1/4 for its rounding, so that one vector's slope has a standard error of at most 1/(2·K): .75/√d' with proofs, and 1/√d' with
// what is cut. The tolerance is 6 of these: a false alarm in 10^8.
func TestVectorsKeepTheGradient(t *testing.T) {
	for _, c := range []struct {
		proofs  bool
		dim     int
		vectors int
		want    float64
	}{{false, 650, 100, 1}, {false, 10_000, 10, 1}, {false, 1_000_000, 1, 1}, {true, 650, 600, 0.9973}, {true, 10_000, 40, 0.9973}} {
		rng := newRand(9)
		slope, most := 0., 0.
		for i := range c.vectors {
			r := testRound(c.dim)
			r.PublicSeed[5], r.PublicSeed[6] = byte(i), byte(i>>8) // rotations differ
			n, err := newIntegers(r, fine)
			if c.proofs {
				n, err = newIntegers(r, provedGrid)
			}
			if err != nil {
				t.Fatal(err)
			}
			grad := make([]float64, c.dim)
			for j := range grad {
				grad[j] = rng.NormFloat64()
			}
			floats.Scale(r.Scale/floats.Norm(grad, 2), grad)
			x, err := n.of(grad, rng)
			if err != nil {
				t.Fatal(err)
			}
			sum := make([]float64, len(x))
			for j, v := range x {
				sum[j] = float64(v)
			}
			back, err := n.back(sum)
			if err != nil {
				t.Fatal(err)
			}
			slope += floats.Dot(back, grad) / (r.Scale * r.Scale) / float64(c.vectors)
			most = 1 / (2 * n.units)
			if c.proofs {
				most = 1 / math.Sqrt(float64(len(x)))
			}
		}
		if most *= 6 / math.Sqrt(float64(c.vectors)); !(math.Abs(slope-c.want) < 0.001+most && most < 0.009) {
			t.Errorf("dim %d, proofs %v: slope %.5f, want %.4f ± %.5f", c.dim, c.proofs, slope, c.want, 0.001+most)
		}
	}
}
