package demands

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Whatever the reading, category c has probability (c+1)/15; halves and weak are tested elsewhere.
// Tolerances are 6 standard deviations (probability below 1e-8 each).
func TestCategoriesOfReadings(t *testing.T) {
	const n = 20_000
	for _, d := range []dependence{sorted, windows, overlapping, narrow} {
		p := draw(n, d)
		if len(p.eps) != n || len(p.values) != n || p.categories != 5 {
			t.Fatalf("%v: %d demands, %d values, k = %d", d, len(p.eps), len(p.values), p.categories)
		}
		counts := make([]float64, 5)
		for _, c := range p.values {
			counts[c]++
		}
		for c, share := range p.truth {
			want := float64(c+1) / 15
			if math.Abs(share-counts[c]/n) > 1e-9 || math.Abs(share-want) > 6*math.Sqrt(want*(1-want)/n) {
				t.Errorf("%v: category %d has %g, of %g, want %g", d, c, share, counts[c]/n, want)
			}
		}
	}
}

// Categories change at 1/15, 3/15, 6/15 and 10/15.
func TestCumulative(t *testing.T) {
	category := cumulative(triangle(5))
	for c, from := range []float64{0, 1. / 15, 3. / 15, 6. / 15, 10. / 15} {
		for _, at := range []struct {
			u    float64
			want int
		}{{from - 1e-9, c - 1}, {from + 1e-9, c}} {
			if got := category(at.u); at.u >= 0 && got != at.want {
				t.Errorf("%g is in category %d, want %d", at.u, got, at.want)
			}
		}
	}
	if got := category(1); got != 4 {
		t.Errorf("1 is in category %d, want 4", got)
	}
}

func TestWeights(t *testing.T) {
	for i, want := range []float64{1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16} {
		if got := peaked(5)[i]; math.Abs(got-want) > 1e-15 {
			t.Errorf("binomial weight %d is %g, want %g", i, got, want)
		}
	}
}

// Every law draws what it says: sizes, categories, values in their range, and demands within the
// bounds of the law. The paper's law for salaries has ln ε = −|bin − 6.5| + uniform in [−3, 3]:
// over 50 000 clients the mean of ln ε + |bin − 6.5| is within 6·√3/√50 000 = 0.047 of 0.
func TestLaws(t *testing.T) {
	for _, l := range append(histogramLaws(), meanLaws()...) {
		p := l.draw(rand.New(rand.NewChaCha8([32]byte{3})))
		if len(p.eps) != l.clients || p.categories != l.categories || len(p.values)+len(p.reals) != l.clients || (len(p.values) == 0) != l.mean() {
			t.Errorf("%s: %d demands, %d categories, %d values, %d numbers", l.name, len(p.eps), p.categories, len(p.values), len(p.reals))
		}
		for _, x := range p.reals {
			if !(x >= 0 && x <= 1) {
				t.Fatalf("%s draws %g", l.name, x)
			}
		}
		if l.mean() && p.truth[0] != stat.Mean(p.reals, nil) {
			t.Errorf("%s: the mean is %g", l.name, p.truth[0])
		}
		if l.set == "UC salaries" && !l.mean() {
			var rest []float64
			for i, e := range p.eps {
				u := math.Log(e) + math.Abs(float64(p.values[i])-5.5)
				if math.Abs(u) > 3 {
					t.Fatalf("bin %d has ε = %g", p.values[i]+1, e)
				}
				rest = append(rest, u)
			}
			if mean := stat.Mean(rest, nil); math.Abs(mean) > 0.047 {
				t.Errorf("%s: mean %g", l.name, mean)
			}
		}
	}
}

// The largest |ln ε| of n uniform ones in [−r, r] is above r·(1−20/n) but with probability e^−20.
func TestRangesOfDemands(t *testing.T) {
	for _, l := range histogramLaws() {
		want := map[string]float64{"Cancer types": 5, "uncorrelated, k = 5": 6, "uncorrelated, k = 20": 6}[l.name]
		if want == 0 {
			continue
		}
		largest := 0.
		for _, e := range l.draw(rand.New(rand.NewChaCha8([32]byte{3}))).eps {
			largest = max(largest, math.Abs(math.Log(e)))
		}
		if largest > want || largest < want*(1-20./float64(l.clients)) {
			t.Errorf("%s: |ln ε| is up to %g, want %g", l.name, largest, want)
		}
	}
}
