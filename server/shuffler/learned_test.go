package shuffler

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// knownRand is the randomness of a server that is to know its own noise.
func knownRand() *rand.Rand { return rand.New(rand.NewPCG(7, 8)) }

// addShares adds shares of one side, by the ids of their reports.
func (r *sealedRound) addShares(t *testing.T, side fl.ShareSide, shares map[[32]byte][]byte) fl.ShareAggregator {
	t.Helper()
	sum, err := r.mechanism.(fl.SharedMechanism).NewShareAggregator(side)
	if err != nil {
		t.Fatal(err)
	}
	for id, share := range shares {
		if err := sum.Add(id[:], share); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

// released is what a server releases with randomness of its own, or with fresh one for nil.
func released(t *testing.T, sum fl.ShareAggregator, rng *rand.Rand) []byte {
	t.Helper()
	data, err := sum.Release(rng)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// total returns the sum of the gradients that two releases show, with both noises.
func (r *sealedRound) total(t *testing.T, first, second []byte) []float64 {
	t.Helper()
	all, err := r.mechanism.(fl.SharedMechanism).Combine(first, second)
	if err != nil {
		t.Fatal(err)
	}
	grad := all.Mean().Value
	floats.Scale(float64(all.Reports), grad)
	return grad
}

// knownNoise returns the noise that a server draws from knownRand. In a made-up round of zeros both servers draw it, and the
// sum is twice the noise.
func (r *sealedRound) knownNoise(t *testing.T) []float64 {
	t.Helper()
	m := r.mechanism.(fl.SharedMechanism)
	a, b, err := m.EncodeShares(nil, nil, make([]float64, r.Dim), r.rng)
	if err != nil {
		t.Fatal(err)
	}
	first, second := map[[32]byte][]byte{}, map[[32]byte][]byte{}
	for i := range r.MinReports {
		id := [32]byte{byte(i), byte(i >> 8)}
		first[id], second[id] = a, b
	}
	noise := r.total(t, released(t, r.addShares(t, fl.FirstServer, first), knownRand()), released(t, r.addShares(t, fl.SecondServer, second), knownRand()))
	floats.Scale(0.5, noise)
	return noise
}

func cosine(a, b []float64) float64 {
	return floats.Dot(a, b) / (floats.Norm(a, 2) * floats.Norm(b, 2))
}

// nearest is the largest cosine with one of the gradients.
func nearest(got []float64, gradients [][]float64) float64 {
	best := -1.
	for _, gradient := range gradients {
		best = max(best, cosine(got, gradient))
	}
	return best
}

// requireNoGradient checks what an active server has learned of one of the gradients, without its own noise: nothing, behind the whole noise
// of the other server. bare is the same without that noise, from the same shares: the attack finds the gradient there, or it shows nothing.
//
// Of 30 gradients that it has nothing to do with, the largest cosine of 1024 normal coordinates is above 0.2 with probability
// 1e-9. The squared length of the noise of 1024 coordinates is within 25 % of its mean but with probability 2e-8. One
// server's noise hides a change of 2·Scale and a little more, so it is hundreds of times as long as a gradient.
func (r *sealedRound) requireNoGradient(t *testing.T, got, bare []float64, gradients [][]float64) {
	t.Helper()
	noise := 2 * r.Scale * r.mechanism.Guarantee().Sigma * math.Sqrt(float64(r.Dim))
	learned, control, ratio := nearest(got, gradients), nearest(bare, gradients), floats.Norm(got, 2)/noise
	t.Logf("cosine %.3f with a client's gradient, %.3f without the honest server's noise; %.3f of one server's noise", learned, control, ratio)
	if !(control > 0.9) {
		t.Errorf("cosine %.3f without the honest server's noise: the attack finds nothing", control)
	}
	if !(learned < 0.2) {
		t.Errorf("cosine %.3f with a client's gradient", learned)
	}
	if !(ratio > 0.87 && ratio < 1.13) {
		t.Errorf("what it learns has %.3f times the noise of one server", ratio)
	}
}

// normalGradients returns n gradients of normal coordinates.
func normalGradients(n, dim int) [][]float64 {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, dim)
		for j := range out[i] {
			out[i][j] = rng.NormFloat64()
		}
	}
	return out
}
