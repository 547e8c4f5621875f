package sparsetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// BenchmarkDecode measures what the server pays for a report, on one core: both
// hash families, dimensions 2^10 to 2^20, small and large reports. The metrics
// are ns/report and reports/s; what is paid once per round is not in them.
func BenchmarkDecode(b *testing.B, mechanism string) {
	for _, family := range []string{"gf2", "ideal"} {
		for _, c := range []struct {
			s   int
			eps float64
		}{{8, 1}, {64, 5}} {
			for _, dim := range []int{1 << 10, 1 << 14, 1 << 17, 1 << 20} {
				b.Run(fmt.Sprintf("family=%s/d=%d/s=%d/eps=%g", family, dim, c.s, c.eps), func(b *testing.B) {
					decode(b, RoundWith(b, mechanism, dim, c.eps, fl.Params{"sparsity": fl.Int(c.s), "hash": fl.Text(family)}))
				})
			}
		}
	}
}

func decode(b *testing.B, r fl.Round) {
	m := Open(b, r)
	slots, err := r.Params.Int("slots")
	if err != nil {
		b.Fatal(err)
	}
	// Reports with uniform seeds and slots cost the same as real ones.
	rng := rand.New(rand.NewChaCha8([32]byte{32}))
	reports := make([][]byte, 4096)
	for i := range reports {
		reports[i] = make([]byte, m.ReportBytes())
		for k, v := 0, rng.Uint32(); k < 4; k++ {
			reports[i][k] = byte(v >> (8 * k))
		}
		for k, v := 4, rng.IntN(slots); k < len(reports[i]); k++ {
			reports[i][k] = byte(v)
			v >>= 8
		}
	}
	agg := m.NewAggregator()
	i := 0
	for b.Loop() {
		if err := agg.Add(reports[i%len(reports)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
	perReport := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(perReport, "ns/report")
	b.ReportMetric(1e9/perReport, "reports/s")
	b.ReportMetric(0, "ns/op")
}
