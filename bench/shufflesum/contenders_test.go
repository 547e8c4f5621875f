package shufflesum

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

// The mean absolute errors of the references are their noise's: a Laplace variable's is
// its scale, with a standard deviation equal to the scale, so that 4000 draws are within
// 6/√4000 = 9.5 % (2e-9). The straw man's scale is τ·2(log₂ U + 2)/ε, the second round's 2τ/ε,
// up to the part of the budget that GKMPS would need for floods: both are BBGN here.
func TestReferencesHaveTheirNoise(t *testing.T) {
	p, bound := population{{Value: 10, Clients: 9_990}, {Value: 50, Clients: 10}}, int64(1<<14)
	for name, want := range map[string]float64{
		centralName:           100,
		"two rounds":          2 * 64,
		"straw man":           64 * 2 * 16,
		"BBGN":                1 << 14,
		"central DP, lower τ": 50,
	} {
		s, err := newSummer(name, p, bound, 1, fl.ZeroOut)
		if err != nil {
			t.Fatal(err)
		}
		var errors []float64
		rng := newRand()
		for range 4000 {
			sum, _, err := s.simulate(p, rng)
			if err != nil {
				t.Fatal(err)
			}
			errors = append(errors, math.Abs(sum-p.total()))
		}
		if got := stat.Mean(errors, nil); math.Abs(got/want-1) > 0.095 {
			t.Errorf("%s: error %g, want %g", name, got, want)
		}
	}
}

// The straw man's clients send the messages of all instances.
func TestStrawManSendsForEveryTau(t *testing.T) {
	p := population{{Value: 8, Clients: 1000}}
	s, err := newSummer("straw man", p, 8, 1, fl.ZeroOut)
	if err != nil {
		t.Fatal(err)
	}
	_, sent, err := s.simulate(p, newRand())
	if err != nil {
		t.Fatal(err)
	}
	want := 0.
	for _, tau := range []int64{1, 2, 4, 8} {
		one, err := hdsum.NewBaseSum(hdsum.Config{Clients: 1000, Epsilon: 1. / 10, Delta: paperDelta / 10, Relation: fl.ZeroOut}, tau)
		if err != nil {
			t.Fatal(err)
		}
		want += one.Cost().Messages
	}
	if got := float64(sent) / 1000; math.Abs(got/want-1) > 0.2 {
		t.Errorf("%g messages, want %g", got, want)
	}
}

// HLY's error is √d'·√2·2B/ε' over √d', with B and ε' of the paper, whatever the images: of 1024
// coordinates the root mean square is within 6·√(5/4/1024) = 21 % (2e-9).
func TestHLYHasTheNoiseOfItsBudget(t *testing.T) {
	images, sum := make([][]int64, 1000), make([]float64, 784)
	for i := range images {
		images[i] = make([]int64, 784)
		images[i][i%784] = 1
		sum[i%784]++
	}
	for l, log := range map[logarithm]func(float64) float64{baseTwo: math.Log2, natural: math.Log} {
		m, err := hly(images, sum, 5, l)
		if err != nil {
			t.Fatal(err)
		}
		got, messages, err := m.simulate(newRand())
		if err != nil {
			t.Fatal(err)
		}
		b, epsilon := 1024*log(1000*1024), 5/(2*math.Sqrt(1024*log(2e12)))
		want := math.Sqrt2 * 2 * b / epsilon
		floats.Sub(got[:784], sum)
		if e := floats.Norm(got, 2); len(got) != 1024 || math.Abs(e/want-1) > 0.21 || messages < 1024*1000*3 {
			t.Errorf("%s: error %g, want %g; %d coordinates, %d messages", m.name, e, want, len(got), messages)
		}
	}
}

// NaiveVecSum's noise is Laplace of scale 1/ε', and its sum is right: 20 000 coordinates have the
// standard deviation √2/ε' within 6·√(5/4/20 000) = 4.8 %, and a mean within 6 of its own.
func TestNaiveHasTheNoiseOfItsBudget(t *testing.T) {
	const d = 20_000
	counts := make([]float64, d)
	for i := range counts {
		counts[i] = float64(i % 30)
	}
	m, err := naive(counts, 50, 5, natural)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := m.simulate(newRand())
	if err != nil {
		t.Fatal(err)
	}
	floats.Sub(got, counts)
	want := math.Sqrt2 * math.Sqrt(d*math.Log(2e12)) / 5
	// GKMPS keeps a tenth of the budget for its floods.
	if mean, deviation := stat.MeanStdDev(got, nil); deviation < 0.95*want || deviation > 1.05*want/0.9 || math.Abs(mean) > 6*want/math.Sqrt(d)/0.9 {
		t.Errorf("mean %g, deviation %g, want 0 and %g", mean, deviation, want)
	}
}

// Cutting to 2^j items adds √(2^j) times the noise: with two items of all clients there is no bias.
func TestCentralCounts(t *testing.T) {
	clients, counts := slices.Repeat([][]int{{0, 2}}, 100_000), []float64{100_000, 0, 100_000}
	m := centralCounts(clients, counts, 5)
	var errors []float64
	rng := newRand()
	for range 3000 {
		got, _, err := m.simulate(rng)
		if err != nil {
			t.Fatal(err)
		}
		floats.Sub(got, counts)
		errors = append(errors, got...)
	}
	want := math.Sqrt(2*2*math.Log(1.25e12)) / 5
	if mean, deviation := stat.MeanStdDev(errors, nil); math.Abs(deviation/want-1) > 6*math.Sqrt(0.5/9000) || math.Abs(mean) > 6*want/math.Sqrt(9000) {
		t.Errorf("mean %g, deviation %g, want 0 and %g", mean, deviation, want)
	}
}
