package ternarize

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Vector instructions give the same weights as one coordinate after the other, to the bit: for numbers
// of every magnitude, for scales at both ends, and in more blocks than one call takes.
func TestVectorsWeighAsOneByOne(t *testing.T) {
	t.Run("float64", func(t *testing.T) { weighsAsOneByOne(t, math.Float64frombits) })
	t.Run("float32", func(t *testing.T) {
		weighsAsOneByOne(t, func(b uint64) float32 { return math.Float32frombits(uint32(b >> 32)) })
	})
}

func weighsAsOneByOne[F number](t *testing.T, number func(uint64) F) {
	const blocks = 1<<10 + 3
	rng := rand.New(rand.NewPCG(5, 6))
	for _, rule := range []weighing{{1 << 49, 1 << 49}, {0x1p52, 0x1p52}, {0x1p900, 0x1p52}, {0x1p-860, 0x1p40}, {1, 1}, {3, 0x1p52}} {
		grad := make([]F, blocks*blockSize+5)
		for j := range grad {
			switch j % 3 {
			case 0:
				grad[j] = number(rng.Uint64())
			case 1:
				grad[j] = F((rng.Float64()*4 - 2) * rule.unit / rule.perUnit)
			default: // whole weights, and half a unit in the last place beside them
				grad[j] = F(math.Nextafter(float64(rng.IntN(9)-4)/rule.perUnit, float64(j%2)))
			}
			if g := float64(grad[j]); math.IsNaN(g) || math.IsInf(g, 0) {
				grad[j] = 0
			}
		}
		got, want := make([]uint64, blocks+1), make([]uint64, blocks+1)
		weighed, finite := weighVectors(got, grad, rule)
		if weighed == 0 && finite {
			t.Skip("this processor has no such instructions")
		}
		if !weighBlocks(want, grad, rule) || !finite || weighed != blocks || !slices.Equal(got[:blocks], want[:blocks]) {
			t.Errorf("%+v: %d blocks, finite: %v, the same: %v", rule, weighed, finite, slices.Equal(got[:blocks], want[:blocks]))
		}
		for _, j := range []int{0, 1, 2, 3, 4, 9, 14, 15, blocks*blockSize - 1} {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				before := grad[j]
				grad[j] = F(bad)
				if _, finite := weighVectors(got, grad, rule); finite {
					t.Errorf("%v at %d is finite", bad, j)
				}
				grad[j] = before
			}
		}
	}
}
