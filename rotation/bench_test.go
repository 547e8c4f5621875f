package rotation_test

import (
	"fmt"
	"testing"
)

// BenchmarkRotation reports the time per coordinate of the vector. The inputs are zeros,
// which stay zeros however often they are rotated.
func BenchmarkRotation(b *testing.B) {
	for _, dim := range []int{1000, 7850, 1_000_000} {
		r := mustNew(b, dim, [32]byte{12})
		x, y := make([]float64, dim), make([]float64, r.PaddedDim())
		ints, z := make([]int64, dim), make([]int64, r.PaddedDim())
		for _, c := range []struct {
			name string
			do   func() error
		}{
			{"Forward", func() error { return r.Forward(y, x) }},
			{"ForwardInt", func() error { return r.ForwardInt(z, ints) }},
			{"Inverse", func() error { return r.Inverse(x, y) }},
		} {
			b.Run(fmt.Sprintf("do=%s/d=%d", c.name, dim), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.do(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(dim), "ns/coord")
			})
		}
	}
}
