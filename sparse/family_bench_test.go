package sparse

import (
	"fmt"
	"testing"

	"github.com/hushgrad/hushgrad/internal/gf2"
)

// A report of CoCo with s = 8, ε = 1 and with s = 64, ε = 5.
func BenchmarkAdd(b *testing.B) {
	for _, most := range []int{32, 1 << 13} {
		for _, dim := range []int{1 << 10, 1 << 14, 1 << 17, 1 << 20} {
			slots := min(most, 2<<gf2.BitsFor(dim+64))
			b.Run(fmt.Sprintf("slots=%d/d=%d", slots, dim), func(b *testing.B) {
				tally := newFamily(b, HashGF2, HashShape{Layout: Paired, Dim: dim, Sparsity: 64, Slots: slots}, [32]byte{1}).NewTally()
				for seed := range uint32(b.N) {
					tally.Add(seed, seed*5%uint32(slots))
				}
			})
		}
	}
}

// A round of many coordinates: to open it, to count what it got.
func BenchmarkManyCoordinates(b *testing.B) {
	const dim = 10_000_000
	for _, slots := range []int{32, 1 << 13} {
		shape := HashShape{Layout: Paired, Dim: dim, Sparsity: 64, Slots: slots}
		b.Run(fmt.Sprintf("slots=%d/open", slots), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				newFamily(b, HashGF2, shape, [32]byte{1}).NewTally()
			}
		})
		b.Run(fmt.Sprintf("slots=%d/close", slots), func(b *testing.B) {
			tally := newFamily(b, HashGF2, shape, [32]byte{1}).NewTally()
			for seed := range uint32(10_000) {
				tally.Add(seed, seed*5%uint32(slots))
			}
			tally.Counts()
			b.ResetTimer()
			b.ReportAllocs()
			for range b.N {
				tally.Counts()
			}
		})
	}
}
