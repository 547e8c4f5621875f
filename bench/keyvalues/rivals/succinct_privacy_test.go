package rivals

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

func succinctOpen(t testing.TB, dim int, epsilon float64, params fl.Params) *succinctMechanism {
	t.Helper()
	m, err := fl.Open(CompleteRound(t, Succinct, dim, epsilon, params))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*succinctMechanism)
}

// inputs lists every set of keys below dim with every value of a grid.
func inputs(dim int) [][]fl.KeyValue {
	all := [][]fl.KeyValue{nil}
	for key := range uint32(dim) {
		for _, pairs := range all[:len(all):len(all)] {
			for _, v := range []float64{-1, 0, 0.3, 1} {
				all = append(all, append(pairs[:len(pairs):len(pairs)], fl.KeyValue{Key: key, Value: v}))
			}
		}
	}
	return all
}

// The proof has two exact halves: under every seed the sum of every input lies in
// [−η, η], and 2η times the decay of the noise is at most ε. For the tightness, and as
// a check of the proof, the laws of the noisy sums are computed in float64: the worst
// ratio is e^ε, attained by the clients with the sums η and −η.
func TestSuccinctReportsArePrivate(t *testing.T) {
	const noisy = 1000
	for _, eps := range []float64{0.1, 1, 5} {
		for dim := 1; dim <= 3; dim++ {
			for _, c := range []struct{ sparsity, buckets int }{{1, 1}, {dim, 1}, {dim, 2}} {
				t.Run(fmt.Sprintf("eps=%g/d=%d/s=%d/B=%d", eps, dim, c.sparsity, c.buckets), func(t *testing.T) {
					m := succinctOpen(t, dim, eps, fl.Params{ParamSparsity: fl.Int(c.sparsity), ParamBuckets: fl.Int(c.buckets)})
					if m.clip != int64(c.sparsity) {
						t.Fatalf("clip %d, want the sparsity", m.clip)
					}
					all, worst := inputs(dim), 0.0
					for seed := range uint32(40) {
						low, high := map[int64]float64{}, map[int64]float64{}
						for _, pairs := range all {
							law, err := exact.Enumerate(8, func(choose exact.Chooser) (int64, error) {
								return m.sum(pairs, seed, choose), nil
							})
							if err != nil {
								t.Fatal(err)
							}
							total, result := new(big.Rat), map[int64]float64{}
							for sum, p := range law {
								if sum < -m.clip || sum > m.clip {
									t.Fatalf("seed %d, %v: sum %d", seed, pairs, sum)
								}
								total.Add(total, p)
								weight, _ := p.Float64()
								for _, x := range []int64{-noisy, -4, -3, -2, -1, 0, 1, 2, 3, 4, noisy} {
									result[x] += weight * m.noise.Prob(x-sum)
								}
							}
							if total.Cmp(big.NewRat(1, 1)) != 0 {
								t.Fatalf("seed %d, %v: total probability %v", seed, pairs, total)
							}
							for x, p := range result {
								if old, ok := low[x]; !ok || p < old {
									low[x] = p
								}
								high[x] = max(high[x], p)
							}
						}
						for x := range high {
							if low[x] > 1e-300 {
								worst = max(worst, high[x]/low[x])
							}
						}
					}
					if e := math.Exp(eps); worst > e*(1+1e-12) || worst < e*(1-1e-12) {
						t.Errorf("worst ratio %.15g, want e^ε = %.15g", worst, e)
					}
				})
			}
		}
	}
}

// 2η·decay ≤ ε exactly, and above ε·(1 − 2^−51).
func TestDecayIsRoundedDown(t *testing.T) {
	for i := range 20_000 {
		eps, clip := math.Exp(float64(i)/20_000*9-6), 1+i%997
		noise, bytes, err := newNoise(eps, clip)
		if err != nil {
			t.Fatal(err)
		}
		spent := new(big.Rat).SetFloat64(noise.Eta)
		spent.Mul(spent, big.NewRat(2*int64(clip), 1))
		budget := new(big.Rat).SetFloat64(eps)
		if spent.Cmp(budget) > 0 {
			t.Fatalf("ε=%v, clip %d: spends more", eps, clip)
		}
		least := new(big.Rat).Mul(budget, new(big.Rat).SetFloat64(1-0x1p-51))
		if spent.Cmp(least) < 0 {
			t.Fatalf("ε=%v, clip %d: spends too little", eps, clip)
		}
		// At most 2·e^−100 of the noisy sums do not fit, and one byte less would not do.
		if beyond := math.Ldexp(1, 8*bytes-1) - float64(clip); noise.Eta*(beyond-1) < 100 || bytes > 1 && noise.Eta*math.Ldexp(1, 8*bytes-9) > 101+3*noise.Eta*float64(clip) {
			t.Fatalf("ε=%v, clip %d: %d bytes", eps, clip, bytes)
		}
	}
	if _, _, err := newNoise(1e-6, 1000); err == nil {
		t.Error("noise of a scale of 2e9: want an error")
	}
}
