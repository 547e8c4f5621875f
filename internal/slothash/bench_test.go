package slothash

import (
	"fmt"
	"testing"
)

// A report of CoCo with s = 8, ε = 1 and with s = 64, ε = 5.
func BenchmarkAdd(b *testing.B) {
	for _, slots := range []int{32, 1 << 13} {
		for _, dim := range []int{1 << 10, 1 << 14, 1 << 17, 1 << 20} {
			b.Run(fmt.Sprintf("slots=%d/d=%d", slots, dim), func(b *testing.B) {
				tally := newFamily(b, GF2, Shape{Layout: Paired, Dim: dim, Sparsity: 64, Slots: slots}, [32]byte{1}).NewTally()
				for seed := range uint32(b.N) {
					tally.Add(seed, seed*5%uint32(slots))
				}
			})
		}
	}
}
