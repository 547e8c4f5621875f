package coco

import (
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// A round of 10^7 coordinates at s = 64, ε = 5: to open it, and to estimate from what it got.
func BenchmarkLargeRound(b *testing.B) {
	r, _, err := fl.Complete(fl.Round{
		ID: "large", Mechanism: Name, Dim: 10_000_000, Scale: 1, Epsilon: 5, Relation: fl.ReplaceOne, MinReports: 1,
		Params: fl.Params{sparse.ParamSparsity: fl.Int(64)}, PublicSeed: [32]byte{1},
	})
	if err != nil {
		b.Fatal(err)
	}
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
