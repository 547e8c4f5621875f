package sample

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkRand(b *testing.B) {
	run := func(name string, draw func(*rand.Rand) int64) {
		b.Run(name, func(b *testing.B) {
			rng := newRand()
			b.ReportAllocs()
			for b.Loop() {
				draw(rng)
			}
		})
	}
	for _, mean := range []float64{0.01, 4, 50, 1e9} {
		run(fmt.Sprintf("Poisson/%g", mean), func(rng *rand.Rand) int64 { return Poisson(rng, mean) })
	}
	for _, d := range []NegativeBinomial{{1e-5, 1e-3}, {1, 1e-3}, {88, 1e-5}, {1e6, 1e-9}} {
		run(fmt.Sprintf("NegativeBinomial/%g,%g", d.R, d.Eta), d.Rand)
	}
	for _, eta := range []float64{1e-9, 1e-4, 1, 40} {
		run(fmt.Sprintf("Logarithmic/%g", eta), Logarithmic{eta}.Rand)
		run(fmt.Sprintf("LogarithmicSampler/%g", eta), NewLogarithmicSampler(eta).Rand)
		run(fmt.Sprintf("DiscreteLaplace/%g", eta), DiscreteLaplace{eta}.Rand)
	}
	for _, n := range []int{1000, 1024, 1_000_000} {
		weights := make([]float64, n)
		rng := newRand()
		for i := range weights {
			weights[i] = rng.Float64()
		}
		a, err := NewAlias(weights)
		if err != nil {
			b.Fatal(err)
		}
		run(fmt.Sprintf("Alias/%d", n), func(rng *rand.Rand) int64 { return int64(a.Rand(rng)) })
	}
}
