package coco

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

func completed(b *testing.B, dim, sparsity int) fl.Round {
	r, _, err := fl.Complete(fl.Round{
		ID: "speed", Mechanism: Name, Dim: dim, Scale: 1, Epsilon: 5, Relation: fl.ReplaceOne, MinReports: 1,
		Params: fl.Params{sparse.ParamSparsity: fl.Int(sparsity)}, PublicSeed: [32]byte{1},
	})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// A client that meets a round: it opens the round and encodes one gradient, or it encodes one more.
func BenchmarkClient(b *testing.B) {
	for _, p := range []struct{ dim, sparsity int }{{7850, 64}, {1_000_000, 128}} {
		r := completed(b, p.dim, p.sparsity)
		grad := make([]float64, p.dim)
		for j := range grad {
			grad[j] = math.Sin(float64(j)) * 50 / float64(p.dim)
		}
		first, err := fl.Open(r)
		if err != nil {
			b.Fatal(err)
		}
		var report []byte
		encode := func(b *testing.B, m fl.Mechanism) {
			if report, err = m.Encode(report[:0], grad, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("d=%d/join", p.dim), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				m, err := fl.Open(r)
				if err != nil {
					b.Fatal(err)
				}
				encode(b, m)
			}
		})
		b.Run(fmt.Sprintf("d=%d/encode", p.dim), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				encode(b, first)
			}
		})
	}
}

// A round of 10^7 coordinates at s = 64, ε = 5: to open it, and to estimate from what it got.
func BenchmarkLargeRound(b *testing.B) {
	r := completed(b, 10_000_000, 64)
	open := func(b *testing.B) (fl.Mechanism, fl.Aggregator) {
		m, err := fl.Open(r)
		if err != nil {
			b.Fatal(err)
		}
		return m, m.NewAggregator()
	}
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			open(b)
		}
	})
	b.Run("estimate", func(b *testing.B) {
		m, counts := open(b)
		grad := make([]float64, r.Dim)
		grad[5] = 1
		for range 100 {
			report, err := m.Encode(nil, grad, nil)
			if err != nil {
				b.Fatal(err)
			}
			if err := counts.Add(report); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if _, err := counts.Estimate(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
