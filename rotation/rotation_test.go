package rotation_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/rotation"
)

func newRand() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }

func mustNew(t testing.TB, dim int, key [32]byte) *rotation.Rotation {
	t.Helper()
	r, err := rotation.New(dim, key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func forward(t testing.TB, r *rotation.Rotation, x []float64) []float64 {
	t.Helper()
	dst := make([]float64, r.PaddedDim())
	if err := r.Forward(dst, x); err != nil {
		t.Fatal(err)
	}
	return dst
}

func inverse(t testing.TB, r *rotation.Rotation, y []float64) []float64 {
	t.Helper()
	dst := make([]float64, r.Dim())
	if err := r.Inverse(dst, y); err != nil {
		t.Fatal(err)
	}
	return dst
}

func integers(rng *rand.Rand, n int, limit int64) ([]int64, []float64) {
	x, f := make([]int64, n), make([]float64, n)
	for i := range x {
		x[i] = rng.Int64N(2*limit+1) - limit
		f[i] = float64(x[i])
	}
	return x, f
}

var dims = []int{1, 2, 3, 4, 5, 63, 64, 65, 100, 1000, 1024, 1025}

func TestPaddedDim(t *testing.T) {
	for dim, want := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 64: 64, 65: 128, 1000: 1024, 7850: 8192, 1<<20 + 1: 1 << 21} {
		r := mustNew(t, dim, [32]byte{1})
		if r.Dim() != dim || r.PaddedDim() != want {
			t.Errorf("dim %d: Dim %d, PaddedDim %d, want %d", dim, r.Dim(), r.PaddedDim(), want)
		}
	}
}

// Forward against the definition, entry by entry; integers below 2^53 leave no rounding.
func TestForwardIsTheDefinition(t *testing.T) {
	rng := newRand()
	for _, dim := range []int{1, 2, 3, 5, 64, 65, 100} {
		r := mustNew(t, dim, [32]byte{2, byte(dim)})
		x, f := integers(rng, dim, 1000)
		p := signs(t, r)
		got, gotInt := forward(t, r, f), make([]int64, r.PaddedDim())
		if err := r.ForwardInt(gotInt, x); err != nil {
			t.Fatal(err)
		}
		for y := range got {
			want := 0.0
			for i, v := range f {
				want += hadamard(i, y) * p[i] * v
			}
			if got[y] != want || float64(gotInt[y]) != want {
				t.Errorf("dim %d, element %d: Forward %v, ForwardInt %d, want %v", dim, y, got[y], gotInt[y], want)
			}
		}
	}
}

// hadamard is an entry of H, by the recursive definition H_2n = (H H; H −H).
func hadamard(i, j int) float64 {
	h := 1.0
	for ; i > 0 && j > 0; i, j = i/2, j/2 {
		if i%2 == 1 && j%2 == 1 {
			h = -h
		}
	}
	return h
}

func TestInverseUndoesForward(t *testing.T) {
	rng := newRand()
	for _, dim := range dims {
		r := mustNew(t, dim, [32]byte{3})
		// Σ|y| <= d'·Σ|x| <= 2048·1025·10^6 < 2^53: all arithmetic is exact.
		_, f := integers(rng, dim, 1_000_000)
		if got := inverse(t, r, forward(t, r, f)); !slices.Equal(got, f) {
			t.Errorf("dim %d: integers come back changed", dim)
		}
		for i := range f {
			f[i] = rng.NormFloat64()
		}
		y := forward(t, r, f)
		// Each transform errs by at most log2(d')·2^-53·Σ|input|, the first of them
		// spread over d' entries and divided by d'.
		levels := math.Log2(float64(len(y))) + 1
		tolerance := levels * 0x1p-53 * (floats.Norm(f, 1) + floats.Norm(y, 1)/float64(len(y)))
		if got := inverse(t, r, y); !floats.EqualApprox(got, f, tolerance) {
			t.Errorf("dim %d: off by %v, more than %v", dim, floats.Distance(got, f, math.Inf(1)), tolerance)
		}
	}
}

// Linear, so that the inverse of a sum of rotated vectors is their sum.
func TestInverseOfASum(t *testing.T) {
	rng := newRand()
	r := mustNew(t, 77, [32]byte{4})
	_, a := integers(rng, 77, 1000)
	_, b := integers(rng, 77, 1000)
	sum := forward(t, r, a)
	floats.Add(sum, forward(t, r, b))
	floats.Add(a, b)
	if got := inverse(t, r, sum); !slices.Equal(got, a) {
		t.Errorf("got %v, want %v", got, a)
	}
}

// ‖Forward(x)‖² = d'·‖x‖², exactly for integers: 2048·1025·10^6 < 2^53.
func TestForwardScalesTheNorm(t *testing.T) {
	rng := newRand()
	for _, dim := range dims {
		r := mustNew(t, dim, [32]byte{5})
		_, f := integers(rng, dim, 1000)
		y := forward(t, r, f)
		if got, want := floats.Dot(y, y), float64(len(y))*floats.Dot(f, f); got != want {
			t.Errorf("dim %d: squared norm %v, want %v", dim, got, want)
		}
	}
}

// Stale contents of dst are not padding, and the input may lie where the output goes.
func TestBuffersMayBeShared(t *testing.T) {
	r := mustNew(t, 5, [32]byte{6})
	x := []float64{1, -2, 3, 4, -5}
	want := forward(t, r, x)
	buf := append(slices.Clone(x), math.NaN(), 7, 7)
	if err := r.Forward(buf, buf[:5]); err != nil || !slices.Equal(buf, want) {
		t.Errorf("Forward in place: %v, %v, want %v", buf, err, want)
	}
	if err := r.Inverse(buf[:5], buf); err != nil || !slices.Equal(buf[:5], x) {
		t.Errorf("Inverse in place: %v, %v, want %v", buf[:5], err, x)
	}
	ints := []int64{1, -2, 3, 4, -5, 9, 9, 9}
	if err := r.ForwardInt(ints, ints[:5]); err != nil || float64(ints[7]) != want[7] {
		t.Errorf("ForwardInt in place: %v, %v, want %v", ints, err, want)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	for _, dim := range []int{-1, 0, fl.MaxDim + 1} {
		_, err := rotation.New(dim, [32]byte{})
		requireParam(t, err, "dim", fmt.Sprintf("New(%d)", dim))
	}
	r := mustNew(t, 3, [32]byte{9})
	huge := math.MaxFloat64 / 4
	const top = math.MaxInt64
	for _, c := range []struct {
		param string
		dst   int
		x     []float64
	}{
		{"dst", 3, []float64{1, 2, 3}}, {"dst", 0, []float64{1, 2, 3}}, {"x", 4, []float64{1, 2}}, {"x", 4, make([]float64, 4)},
		{"x[1]", 4, []float64{1, math.NaN(), 3}}, {"x[2]", 4, []float64{1, 2, math.Inf(-1)}}, {"x[0]", 4, []float64{math.Inf(1), 2, math.NaN()}},
		{"x", 4, []float64{huge, -huge, huge}},
	} {
		dst := make([]float64, c.dst)
		requireParam(t, r.Forward(dst, c.x), c.param, "Forward")
		if floats.Norm(dst, 1) != 0 {
			t.Errorf("%+v: dst was changed", c)
		}
	}
	for _, c := range []struct {
		param string
		dst   int
		y     []float64
	}{
		{"dst", 4, make([]float64, 4)}, {"y", 3, make([]float64, 3)}, {"y[3]", 3, []float64{1, 2, 3, math.NaN()}},
		{"y[0]", 3, []float64{math.Inf(-1), 2, 3, 4}}, {"y", 3, []float64{huge, huge, huge, huge}},
	} {
		before := slices.Clone(c.y)
		requireParam(t, r.Inverse(make([]float64, c.dst), c.y), c.param, "Inverse")
		for i := range before {
			if math.Float64bits(before[i]) != math.Float64bits(c.y[i]) {
				t.Errorf("%+v: y was changed", c)
			}
		}
	}
	for _, c := range []struct {
		param string
		dst   int
		x     []int64
	}{
		{"dst", 3, make([]int64, 3)}, {"x", 4, make([]int64, 4)}, {"x", 4, []int64{top, -1, 0}}, {"x", 4, []int64{0, 0, math.MinInt64}},
		{"x", 4, []int64{math.MinInt64, math.MinInt64, 0}}, {"x", 4, []int64{top, math.MinInt64, 1}},
	} {
		requireParam(t, r.ForwardInt(make([]int64, c.dst), c.x), c.param, fmt.Sprint("ForwardInt ", c.x))
	}
}

func requireParam(t *testing.T, err error, param, what string) {
	t.Helper()
	var p *fl.ParamError
	if !errors.As(err, &p) || p.Param != param {
		t.Errorf("%s: error %v, want a ParamError for %s", what, err, param)
	}
}

// The largest sums that are accepted are transformed without overflow.
func TestLargestInputs(t *testing.T) {
	r := mustNew(t, 4, [32]byte{10})
	const half = math.MaxInt64 / 2
	y := make([]int64, 4)
	if err := r.ForwardInt(y, []int64{half, -half, 0, 1}); err != nil {
		t.Fatal(err)
	}
	if got := slices.Max([]int64{max(y[0], -y[0]), max(y[1], -y[1]), max(y[2], -y[2]), max(y[3], -y[3])}); got != math.MaxInt64 {
		t.Errorf("largest element %d, want 2^63 − 1", got)
	}
	// Σ|x| is a quarter of the largest float64 and Σ|Forward(x)| half of it.
	x := []float64{math.MaxFloat64 / 8, -math.MaxFloat64 / 8, 0, 0}
	if got := inverse(t, r, forward(t, r, x)); !slices.Equal(got, x) {
		t.Errorf("got %v, want %v", got, x)
	}
}

func TestForwardAllocatesNothing(t *testing.T) {
	r := mustNew(t, 1000, [32]byte{11})
	x, y, ints, z := make([]float64, 1000), make([]float64, 1024), make([]int64, 1000), make([]int64, 1024)
	if n := testing.AllocsPerRun(20, func() {
		_, _, _ = r.Forward(y, x), r.Inverse(x, y), r.ForwardInt(z, ints)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
