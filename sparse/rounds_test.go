package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// measureRounds runs whole rounds: half of the clients hold the coordinates
// 0 … s−1 with alternating signs, the other half s … 2s−1. It checks, over many
// rounds with public randomness of their own, that
//
//   - the squared error of the mean is the exact one, within zError standard errors
//     of its average per round,
//   - the estimated square of the error's norm is the exact one as well, and
//   - every one of the 2s heavy coordinates is unbiased, within zBias exact standard
//     errors, heavyVariance being the variance of one report's estimate of it.
func measureRounds(t *testing.T, r fl.Round, rounds, perRound int, mse, heavyVariance, zError, zBias float64, rng *rand.Rand) {
	t.Helper()
	s, err := r.Params.Int("sparsity")
	if err != nil {
		t.Fatal(err)
	}
	var halves [2]fl.Ternary
	truth := make([]float64, r.Dim)
	for i := range 2 * s {
		sign := int8(1 - 2*(i%2))
		halves[i/s].Dim = r.Dim
		halves[i/s].Index = append(halves[i/s].Index, uint32(i))
		halves[i/s].Sign = append(halves[i/s].Sign, sign)
		truth[i] = float64(sign) / 2
	}
	var squared, estimated moments
	sum := make([]float64, 2*s)
	for range rounds {
		for i := range r.PublicSeed {
			r.PublicSeed[i] = byte(rng.Uint32())
		}
		m := open(t, r)
		agg := m.NewAggregator()
		for i := range perRound {
			report, err := m.EncodeTernary(nil, halves[i%2], rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for j, v := range e.Mean().Value {
			total += (v - truth[j]) * (v - truth[j])
		}
		squared.add(total * float64(perRound))
		estimated.add(e.NoiseNorm * e.NoiseNorm * float64(perRound))
		for j := range sum {
			sum[j] += e.Mean().Value[j] / float64(rounds)
		}
	}
	squared.compare(t, "squared error of a round, times its reports", mse, 0, zError)
	// What sets the halves apart, 1/4 in 2s coordinates, counts as error of a sample of clients.
	apart := float64(s) / 2 * float64(perRound) / float64(perRound-1)
	estimated.compare(t, "squared norm of the noise, times its reports", mse+apart, 0, zError)
	se := math.Sqrt(heavyVariance / float64(rounds*perRound))
	for j, v := range sum {
		if z := (v - truth[j]) / se; math.Abs(z) > zBias {
			t.Errorf("coordinate %d: %.4g on average, want %.4g (%.1f standard errors)", j, v, truth[j], z)
		}
	}
}

// checkRounds runs whole rounds of a slotted mechanism with both hash families
// against the exact error, and checks the bias of coordinates that half of the
// clients share. At most 120 t-tests with 39 degrees of freedom at 8 (1e-9 each) and
// 60·128 normal tests at 6.5 standard errors (8e-11 each): false-positive rate below
// 1e-6.
//
// Rounds of 131072 coordinates take most of the time. They run at ε = 1 alone, unless
// everything is true.
func checkRounds(t *testing.T, scheme *sparse.Scheme, everything bool) {
	t.Helper()
	dims := []int{1000, 7850, 131072}
	if !*long {
		dims = dims[:1]
	}
	rng := rand.New(rand.NewChaCha8([32]byte{51}))
	for _, dim := range dims {
		for _, s := range []int{1, 8, 31, 64} {
			for _, eps := range []float64{0.5, 1, 5} {
				for _, hash := range []string{"gf2", "ideal"} {
					if hash == "ideal" && dim > 10_000 {
						continue // it reads every coordinate for every report, whatever their number
					}
					if dim > 10_000 && eps != 1 && !everything {
						continue
					}
					t.Run(fmt.Sprintf("%s/d=%d/s=%d/eps=%g", hash, dim, s, eps), func(t *testing.T) {
						p := sparse.Point{Dim: dim, Sparsity: s, Epsilon: eps, Hash: hash}
						var err error
						if p.Slots, err = scheme.BestSlots(p); err != nil {
							t.Fatal(err)
						}
						c, err := scheme.Calibration(p)
						if err != nil {
							t.Fatal(err)
						}
						in, out := c.MeanVariance()
						r := roundWith(t, scheme.Name(), dim, eps, fl.Params{
							"sparsity": fl.Int(s), "slots": fl.Int(p.Slots), "hash": fl.Text(hash),
						})
						measureRounds(t, r, 40, 20, c.MeanMSE(dim, s), (in+out)/2, 8, 6.5, rng)
					})
				}
			}
		}
	}
}
