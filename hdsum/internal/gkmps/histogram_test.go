package gkmps

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/internal/sample"
)

// smallLaws are laws of U = 2 with so few copies that everything can be enumerated:
// +1, −1 and the three atoms 1 (D-hat), 2 and −2.
var smallLaws = []sample.NegativeBinomial{
	{R: 1, Eta: 1.6}, {R: 1, Eta: 1.6}, {R: 2, Eta: 1.8}, {R: 1.5, Eta: 2}, {R: 1.5, Eta: 2.2},
}

// The analysis of the protocol looks at independent parts instead of the messages:
// the sum, the messages −1 corrected by the atoms' messages −1, and the copies of
// each other atom, each moved by an entry of C (package comment). Here U = 2,
// the laws are small, and all outcomes are enumerated: the
// hockey-stick divergences of the messages' histogram and of the parts agree for all pairs
// of inputs. Cutting off the counts does not disturb that.
func TestHistogramIsEquivalentToIndependentParts(t *testing.T) {
	const bound, inputs, cut = 2, 3, 8
	type outcome [4]int64
	histogram, parts := map[outcome][]float64{}, map[outcome][]float64{}
	record := func(m map[outcome][]float64, o outcome, x int, p float64) {
		if m[o] == nil {
			m[o] = make([]float64, inputs)
		}
		m[o][x] += p
	}
	kinds := [][]int64{{1}, {-1}, messages(nil, 1), messages(nil, 2), messages(nil, -2)}
	probs := make([][cut]float64, len(kinds))
	for i, law := range smallLaws {
		for k := range cut {
			probs[i][k] = math.Exp(law.LogProb(int64(k)))
		}
	}
	var copies [5]int64
	var visit func(kind int, p float64)
	visit = func(kind int, p float64) {
		if kind < len(kinds) {
			for k := range cut {
				copies[kind] = int64(k)
				visit(kind+1, p*probs[kind][k])
			}
			return
		}
		for x := range inputs {
			counts := [2*bound + 1]int64{}
			if x > 0 {
				counts[bound+x]++
			}
			for i, k := range copies {
				for _, v := range kinds[i] {
					counts[bound+v] += k
				}
			}
			record(histogram, outcome{counts[0], counts[1], counts[3], counts[4]}, x, p)
			// The parts: the sum, then −1, 2, −2 moved by c_x.
			moved := map[int64]int64{1: copies[1] + copies[2], 2: copies[3], -2: copies[4]}
			if x > 0 {
				for _, e := range column(nil, int64(x)) {
					moved[e.atom] += e.count
				}
			}
			record(parts, outcome{int64(x) + copies[0] - copies[1], moved[1], moved[2], moved[-2]}, x, p)
		}
	}
	visit(0, 1)
	if len(histogram) != len(parts) {
		t.Errorf("%d histograms, %d outcomes of the parts: not a bijection", len(histogram), len(parts))
	}
	divergence := func(m map[outcome][]float64, x, y int, eps float64) (sum float64) {
		for _, p := range m {
			sum += max(0, p[x]-math.Exp(eps)*p[y])
		}
		return sum
	}
	for x := range inputs {
		for y := range inputs {
			for _, eps := range []float64{0.3, 1, 2} {
				if x == y {
					continue
				}
				a, b := divergence(histogram, x, y, eps), divergence(parts, x, y, eps)
				if math.Abs(a-b) > 1e-12 || eps < 1 && a < 0.05 {
					t.Errorf("%d against %d, ε = %g: %.12g of the histogram, %.12g of the parts", x, y, eps, a, b)
				}
			}
		}
	}
}
