package bbgn_test

import (
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/hdsum/internal/bbgn"
	"gonum.org/v1/gonum/stat/distuv"
)

// falsePositive is the chance of each chi-square test to fail without a fault. There
// are fewer than 50 of them.
const falsePositive = 1e-7

func checkChiSquare(t *testing.T, what string, counts []int, expected []float64) {
	t.Helper()
	statistic := 0.
	for i, e := range expected {
		d := float64(counts[i]) - e
		statistic += d * d / e
	}
	if limit := (distuv.ChiSquared{K: float64(len(expected) - 1)}).Quantile(1 - falsePositive); statistic > limit {
		t.Errorf("%s: chi-square %.1f over %d bins, limit %.1f", what, statistic, len(expected), limit)
	}
}

// The result is the true sum plus DLap(ε/U), negative totals included. Bins are the
// integers, or runs of them, from −6/η to 6/η, and the two tails.
func TestNoiseIsDiscreteLaplace(t *testing.T) {
	const repeats = 20_000
	rng := newRand(11)
	for _, c := range []bbgn.Config{
		{Clients: 5, Bound: 1, Epsilon: 1, Delta: 1e-3},
		{Clients: 5, Bound: 1000, Epsilon: 1, Delta: 1e-3},
		{Clients: 1, Bound: 3, Epsilon: 0.5, Delta: 1e-3},
	} {
		p := mustNew(t, c)
		eta := c.Epsilon / float64(c.Bound)
		width := max(1, int64(0.5/eta))
		half := int64(6/eta) / width // bins on either side of 0
		counts, expected := make([]int, 2*half+2), make([]float64, 2*half+2)
		// cdf is P[DLap(η) <= k], written out here.
		cdf := func(k int64) float64 {
			if k < 0 {
				return math.Exp(eta*float64(k)) / (1 + math.Exp(-eta))
			}
			return 1 - math.Exp(-eta*float64(k+1))/(1+math.Exp(-eta))
		}
		before := 0.
		for i := range expected { // bin i ends at (i−half)·width
			at := cdf((int64(i) - half) * width)
			if i == len(expected)-1 {
				at = 1
			}
			expected[i] = (at - before) * repeats
			before = at
		}
		inputs, negative := make([]int64, c.Clients), 0
		inputs[0] = c.Bound / 2
		for range repeats {
			total := run(t, p, inputs, rng)
			if total < 0 {
				negative++
			}
			d := total - inputs[0]
			bin := int64(math.Ceil(float64(d)/float64(width))) + half
			counts[min(max(bin, 0), int64(len(counts))-1)]++
		}
		checkChiSquare(t, "noise", counts, expected)
		if negative < repeats/10 { // expected: 23 % or more
			t.Errorf("%+v: only %d of %d totals are negative", c, negative, repeats)
		}
		if got := p.Noise().Prob(0); math.Abs(got/math.Tanh(eta/2)-1) > 1e-12 {
			t.Errorf("%+v: Noise().Prob(0) = %v, want %v", c, got, math.Tanh(eta/2))
		}
		ratio := math.Exp(-eta)
		if want := 2 * ratio / ((1 - ratio) * (1 - ratio)); math.Abs(p.NoiseVariance()/want-1) > 1e-9 {
			t.Errorf("%+v: variance %v, want %v", c, p.NoiseVariance(), want)
		}
	}
}

// Every message of a client is uniform whatever its input, and so is each pair that
// leaves at least one message out.
func TestSharesAreUniform(t *testing.T) {
	const repeats = 60_000
	c := bbgn.Config{Clients: 2, Bound: 1, Epsilon: 4, Delta: 0.3}
	p := mustNew(t, c)
	m, q := p.Messages(), int(p.Modulus())
	if q&(q-1) == 0 || m < 3 || repeats/(q*q) < 10 {
		t.Fatalf("m=%d q=%d: unsuitable", m, q)
	}
	rng := newRand(13)
	for x := range c.Bound + 1 {
		single, pair := make([][]int, m), make([][]int, m)
		for i := range m {
			single[i], pair[i] = make([]int, q), make([]int, q*q)
		}
		var messages []uint64
		for range repeats {
			messages, _ = p.Encode(messages[:0], x, rng)
			for i, s := range messages {
				single[i][s]++
				pair[i][int(s)*q+int(messages[(i+1)%m])]++
			}
		}
		for i := range m {
			checkChiSquare(t, "one share", single[i], slices.Repeat([]float64{float64(repeats) / float64(q)}, q))
			checkChiSquare(t, "two shares", pair[i], slices.Repeat([]float64{float64(repeats) / float64(q*q)}, q*q))
		}
	}
}
