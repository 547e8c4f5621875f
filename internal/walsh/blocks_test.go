package walsh

import (
	"math"
	"math/rand/v2"
	"testing"
)

// level does one level of the transform, the one of stride h, as it is written
// in the literature.
func level[T int64 | float32 | float64](a []T, h int) {
	for i := range a {
		if i&h == 0 {
			a[i], a[i+h] = a[i]+a[i+h], a[i]-a[i+h]
		}
	}
}

// rough returns n values of very different sizes, so that sums round and any
// change in the order of additions shows in the last bits.
func rough[T int64 | float32 | float64](rng *rand.Rand, n int) []T {
	a := make([]T, n)
	for i := range a {
		a[i] = T(math.Ldexp(rng.NormFloat64(), 10+rng.IntN(20)))
	}
	return a
}

// bitPattern separates what == does not: zeros of different signs.
func bitPattern[T int64 | float32 | float64](x T) uint64 {
	switch x := any(x).(type) {
	case int64:
		return uint64(x)
	case float32:
		return uint64(math.Float32bits(x))
	default:
		return math.Float64bits(x.(float64))
	}
}

func requireSameBits[T int64 | float32 | float64](t *testing.T, got, want []T) {
	t.Helper()
	for i := range want {
		if bitPattern(got[i]) != bitPattern(want[i]) {
			t.Fatalf("n = %d, element %d: got %v, want %v", len(want), i, got[i], want[i])
		}
	}
}

func TestSerialIsLevelsInAscendingOrder(t *testing.T) {
	t.Run("int64", testLevels[int64])
	t.Run("float32", testLevels[float32])
	t.Run("float64", testLevels[float64])
}

func testLevels[T int64 | float32 | float64](t *testing.T) {
	rng := newRand()
	for m := 0; m <= 18; m++ {
		want := rough[T](rng, 1<<m)
		got := append([]T(nil), want...)
		serial(got)
		for h := 1; h < len(want); h *= 2 {
			level(want, h)
		}
		requireSameBits(t, got, want)
	}
}

func TestPassesDoTheirLevelsOnly(t *testing.T) {
	rng := newRand()
	passes := []struct {
		name   string
		n      int
		pass   func(a []float64)
		levels []int
	}{
		{"first8", 40, first8[float64], []int{1, 2, 4}},
		{"radix8", 24, func(a []float64) { radix8(a, 3, 0, 3) }, []int{3, 6, 12}},
		{"radix4", 20, func(a []float64) { radix4(a, 5) }, []int{5, 10}},
		{"radix2", 14, func(a []float64) { radix2(a, 7) }, []int{7}},
	}
	for _, p := range passes {
		t.Run(p.name, func(t *testing.T) {
			got := rough[float64](rng, p.n)
			want := append([]float64(nil), got...)
			p.pass(got)
			for _, h := range p.levels {
				// Strides need not be powers of two: rows are what counts.
				for i := range want {
					if i/h%2 == 0 {
						want[i], want[i+h] = want[i]+want[i+h], want[i]-want[i+h]
					}
				}
			}
			requireSameBits(t, got, want)
		})
	}
}

func TestFar8HasTheBitsOfRadix8(t *testing.T) {
	rng := newRand()
	const h = 5 * tileLen
	for _, c := range [][2]int{{0, h}, {0, 0}, {7, 8}, {3, 3 + tileLen}, {1, 2 * tileLen}, {h - 1, h}} {
		got := rough[float32](rng, 8*h)
		want := append([]float32(nil), got...)
		far8(got, h, c[0], c[1])
		radix8(want, h, c[0], c[1])
		requireSameBits(t, got, want)
	}
}

func TestRowsFarApart(t *testing.T) {
	if !*long {
		t.Skip("needs 256 MiB")
	}
	const x = 0b101_0110_0101_0000_1111_0011_01
	a := make([]float32, 8*farFrom)
	a[x] = 1
	serial(a)
	for y := range a {
		if a[y] != character[float32](x, y) {
			t.Fatalf("element %d: got %v", y, a[y])
		}
	}
}

func TestRadix8LeavesOtherColumnsAlone(t *testing.T) {
	const h, lo, hi = 16, 5, 11
	before := rough[float64](newRand(), 8*h)
	whole := append([]float64(nil), before...)
	radix8(whole, h, 0, h)
	part := append([]float64(nil), before...)
	radix8(part, h, lo, hi)
	want := append([]float64(nil), before...)
	for i := range want {
		if column := i % h; column >= lo && column < hi {
			want[i] = whole[i]
		}
	}
	requireSameBits(t, part, want)
}
