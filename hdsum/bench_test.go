package hdsum

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// BenchmarkEncode is a client of a round over a model of 1970 parameters. The
// number of instances is the same for both numbers of clients, but with a
// hundred times as many clients each sends a hundredth of the noise of GKMPS: its
// time follows the messages and not the instances.
func BenchmarkEncode(b *testing.B) {
	for _, base := range []Protocol{GKMPS, BBGN} {
		for _, clients := range []int{6000, 600_000} {
			b.Run(fmt.Sprintf("base=%s/n=%d", base, clients), func(b *testing.B) {
				g := newGradients(b, GradientConfig{
					Config: Config{Clients: clients, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne, Base: base},
					Dim:    1970, ClipNorm: 1, Range: 2, Levels: 1, Beta: 0.1,
				})
				rng := newRand(90)
				grad := make([]float64, 1970)
				for i := range grad {
					grad[i] = rng.NormFloat64() / math.Sqrt(1970)
				}
				b.ReportAllocs()
				var messages, entries float64
				for b.Loop() {
					m, err := g.Encode(grad, rng)
					if err != nil {
						b.Fatal(err)
					}
					messages += float64(m.Messages())
					entries += float64(len(m))
				}
				b.ReportMetric(messages/b.Elapsed().Seconds(), "messages/s")
				b.ReportMetric(messages/float64(b.N), "messages/op")
				b.ReportMetric(entries/float64(b.N), "entries/op")
			})
		}
	}
}

// BenchmarkAdd is what the shuffler pays for a client.
func BenchmarkAdd(b *testing.B) {
	for _, base := range []Protocol{GKMPS, BBGN} {
		b.Run("base="+base.String(), func(b *testing.B) {
			g := newGradients(b, GradientConfig{
				Config: Config{Clients: 6000, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne, Base: base},
				Dim:    1970, ClipNorm: 1, Range: 2, Levels: 1, Beta: 0.1,
			})
			m, err := g.Encode(make([]float64, 1970), newRand(91))
			if err != nil {
				b.Fatal(err)
			}
			sums := g.NewSums()
			b.ReportAllocs()
			for b.Loop() {
				if err := sums.Add(m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
