package abi

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// BenchmarkEncode is one report, by the mechanism itself and by a request. python/tests/encode_speed.py
// compares it with the Python package.
func BenchmarkEncode(b *testing.B) {
	for _, c := range []struct{ dim, sparsity int }{{7850, 64}, {1_000_000, 512}} {
		r, m, err := fl.Complete(fl.Round{
			ID: "r", Mechanism: "coco", Dim: c.dim, Scale: 0.05, Epsilon: 4, Relation: fl.ReplaceOne, MinReports: 1,
			Params: fl.Params{"sparsity": fl.Int(c.sparsity)}, PublicSeed: fl.NewPublicSeed(),
		})
		if err != nil {
			b.Fatal(err)
		}
		grad, rng := make([]float64, c.dim), fl.NewRand()
		for j := range grad {
			grad[j] = 0.01 * rng.NormFloat64()
		}
		b.Run(fmt.Sprintf("go/dim=%d", c.dim), func(b *testing.B) {
			least := time.Hour
			for b.Loop() {
				start := time.Now()
				if _, err := m.Encode(nil, grad, nil); err != nil {
					b.Fatal(err)
				}
				least = min(least, time.Since(start))
			}
			b.ReportMetric(float64(least.Nanoseconds()), "least-ns")
		})
		b.Run(fmt.Sprintf("request/dim=%d", c.dim), func(b *testing.B) {
			client := newCaller(b)
			description, err := r.MarshalBinary()
			if err != nil {
				b.Fatal(err)
			}
			header := fmt.Appendf(nil, `{"op": "encode", "args": {"round": %d, "type": "f4", "rows": 1}}`, client.open(description))
			payload := floats(true, grad...)
			for b.Loop() {
				if _, report := client.Call(context.Background(), header, payload); len(report) == 0 {
					b.Fatal("no report")
				}
			}
		})
	}
}
