package walsh

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func newRand() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{'w', 'a', 'l', 's', 'h'})) }

// character returns (−1)^popcount(x AND y).
func character[T int64 | float32 | float64](x, y int) T {
	return T(1 - 2*(bits.OnesCount(uint(x&y))&1))
}

// definition returns the transform of a, computed as it is defined, in O(n²).
func definition[T int64 | float32 | float64](a []T) []T {
	out := make([]T, len(a))
	for y := range out {
		for x, v := range a {
			out[y] += character[T](x, y) * v
		}
	}
	return out
}

// integers returns n integers, uniform in −limit, …, limit.
func integers[T int64 | float32 | float64](rng *rand.Rand, n int, limit int64) []T {
	a := make([]T, n)
	for i := range a {
		a[i] = T(rng.Int64N(2*limit+1) - limit)
	}
	return a
}

func transformed[T int64 | float32 | float64](t *testing.T, a []T) []T {
	t.Helper()
	out := append([]T(nil), a...)
	if err := Transform(out); err != nil {
		t.Fatal(err)
	}
	return out
}

func requireEqual[T int64 | float32 | float64](t *testing.T, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("n = %d: got length %d", len(want), len(got))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("n = %d, element %d: got %v, want %v", len(want), i, got[i], want[i])
		}
	}
}

func TestTransformMatchesDefinition(t *testing.T) {
	t.Run("int64", func(t *testing.T) { testDefinition[int64](t, 1<<40) })
	// 2^10 values up to 2^14 stay within the 2^24 that float32 holds exactly.
	t.Run("float32", func(t *testing.T) { testDefinition[float32](t, 1<<14) })
	t.Run("float64", func(t *testing.T) { testDefinition[float64](t, 1<<40) })
}

func testDefinition[T int64 | float32 | float64](t *testing.T, limit int64) {
	rng := newRand()
	for m := 0; m <= 10; m++ {
		a := integers[T](rng, 1<<m, limit)
		requireEqual(t, transformed(t, a), definition(a))
	}
}

// The sums of these elements do not fit int64, in Transform and in the definition.
func TestTransformWrapsModulo64Bits(t *testing.T) {
	rng := newRand()
	a := make([]int64, 1<<10)
	for i := range a {
		a[i] = int64(rng.Uint64())
	}
	requireEqual(t, transformed(t, a), definition(a))
	requireEqual(t, transformed(t, []int64{math.MaxInt64, 1, -1, 0}),
		[]int64{math.MaxInt64, math.MaxInt64 - 2, math.MinInt64 + 1, math.MaxInt64})
}

func TestTransformOfUnitVectors(t *testing.T) {
	t.Run("int64", testUnitVectors[int64])
	t.Run("float32", testUnitVectors[float32])
	t.Run("float64", testUnitVectors[float64])
}

func testUnitVectors[T int64 | float32 | float64](t *testing.T) {
	check := func(n, x int) {
		t.Helper()
		a := make([]T, n)
		a[x] = 1
		want := make([]T, n)
		for y := range want {
			want[y] = character[T](x, y)
		}
		requireEqual(t, transformed(t, a), want)
	}
	for n := 1; n <= 1<<7; n *= 2 {
		for x := range n {
			check(n, x)
		}
	}
	for n := 1 << 8; n <= 1<<17; n *= 2 {
		for x := 1; x < n; x *= 2 { // one per level
			check(n, x)
		}
	}
}

func TestTransformTwiceMultipliesByLength(t *testing.T) {
	t.Run("int64", func(t *testing.T) { testTwice[int64](t, 18, 1<<20) })
	// The second transform sums up to n² times the limit: 2^24 units here ...
	t.Run("float32", func(t *testing.T) { testTwice[float32](t, 12, 1) })
	// ... and 2^46 there.
	t.Run("float64", func(t *testing.T) { testTwice[float64](t, 18, 1<<10) })
}

func testTwice[T int64 | float32 | float64](t *testing.T, maxM int, limit int64) {
	rng := newRand()
	for m := 0; m <= maxM; m++ {
		a := integers[T](rng, 1<<m, limit)
		got := transformed(t, transformed(t, a))
		for i := range a {
			a[i] *= T(len(a))
		}
		requireEqual(t, got, a)
	}
}

func TestTransformIsLinear(t *testing.T) {
	t.Run("int64", testLinear[int64])
	t.Run("float32", testLinear[float32])
	t.Run("float64", testLinear[float64])
}

func testLinear[T int64 | float32 | float64](t *testing.T) {
	rng := newRand()
	for m := 0; m <= 16; m++ {
		a := integers[T](rng, 1<<m, 20)
		b := integers[T](rng, 1<<m, 20)
		combination := make([]T, len(a))
		for i := range combination {
			combination[i] = 5*a[i] - 7*b[i] // at most 240 · 2^16 < 2^24 in all
		}
		got, want, b := transformed(t, combination), transformed(t, a), transformed(t, b)
		for i := range want {
			want[i] = 5*want[i] - 7*b[i]
		}
		requireEqual(t, got, want)
	}
}

// The levels done one by one in float64 stand for the true transform: the bound
// on their error is below the one on float32 by a factor of 2^29.
func TestTransformErrorBound(t *testing.T) {
	rng := newRand()
	for m := 0; m <= 18; m++ {
		single := make([]float32, 1<<m)
		double := make([]float64, len(single))
		sum := 0.0
		for i := range single {
			single[i] = float32(rng.NormFloat64())
			double[i] = float64(single[i])
			sum += math.Abs(double[i])
		}
		single = transformed(t, single)
		for h := 1; h < len(double); h *= 2 {
			level(double, h)
		}
		mu := float64(m) * 0x1p-24
		bound := mu / (1 - mu) * sum
		for i := range single {
			if e := math.Abs(float64(single[i]) - double[i]); e > bound {
				t.Fatalf("m = %d, element %d: error %g above %g", m, i, e, bound)
			}
		}
	}
}

func TestTransformOfNonFiniteElements(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a := integers[float64](newRand(), 1<<6, 10)
		a[37] = bad
		for y, v := range transformed(t, a) {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				t.Fatalf("%v in: element %d is %v", bad, y, v)
			}
		}
	}
}

func TestTransformRefusesLengths(t *testing.T) {
	for _, n := range []int{0, 3, 5, 6, 7, 9, 12, 24, 1000, 1<<12 - 1, 1<<12 + 8, 3 << 16} {
		a := integers[float64](newRand(), n, 10)
		before := append([]float64(nil), a...)
		err := Transform(a)
		if want := fmt.Sprintf("walsh: length: got %d, rule: must be a power of two", n); err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
		requireEqual(t, a, before)
	}
	if err := Transform[int64](nil); err == nil {
		t.Error("nil was accepted")
	}
}

func TestTransformAllocatesNothing(t *testing.T) {
	for _, n := range []int{1, 1 << 10, share} {
		a := make([]float64, n)
		if got := testing.AllocsPerRun(10, func() { _ = Transform(a) }); got != 0 {
			t.Errorf("n = %d: %v allocations", n, got)
		}
	}
}

// Compare runs with GOMAXPROCS=1 and 2 in the environment. The flag -cpu 1,2
// misleads: a benchmark that uses b.Loop does its first run before the flag
// takes effect.
func BenchmarkTransform(b *testing.B) {
	benchmarkTransform[int64](b, "int64")
	benchmarkTransform[float32](b, "float32")
	benchmarkTransform[float64](b, "float64")
}

// benchmarkTransform reports, besides the time per element, the bytes read and
// written per second as if one pass over memory did it all.
func benchmarkTransform[T int64 | float32 | float64](b *testing.B, name string) {
	for _, m := range []int{10, 14, 17, 20, 24} {
		b.Run(fmt.Sprintf("type=%s/n=2^%d", name, m), func(b *testing.B) {
			a := make([]T, 1<<m) // zeros stay zeros: no overflow, no slow operands
			for b.Loop() {
				if err := Transform(a); err != nil {
					b.Fatal(err)
				}
			}
			perElement := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(len(a))
			b.ReportMetric(perElement, "ns/elem")
			b.ReportMetric(2*float64(unsafe.Sizeof(a[0]))/perElement, "GB/s")
		})
	}
}
