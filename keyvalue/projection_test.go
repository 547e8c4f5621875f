package keyvalue_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

var projections = []struct {
	name    string
	project func(dst, v []float64, size float64) error
	// feasible draws a point of the set.
	feasible func(rng *rand.Rand, dim int, size float64) []float64
}{
	{"simplex", keyvalue.Simplex, func(rng *rand.Rand, dim int, size float64) []float64 {
		return scaled(rng, dim, size)
	}},
	{"l1 ball", keyvalue.L1Ball, func(rng *rand.Rand, dim int, size float64) []float64 {
		x := scaled(rng, dim, size*rng.Float64())
		for j := range x {
			x[j] *= float64(1 - 2*rng.IntN(2))
		}
		return x
	}},
}

// scaled draws a point of the simplex, sparse ones included.
func scaled(rng *rand.Rand, dim int, total float64) []float64 {
	x, sum := make([]float64, dim), 0.0
	for j := range x {
		x[j] = math.Pow(rng.Float64(), 4)
		sum += x[j]
	}
	for j := range x {
		x[j] *= total / sum
	}
	return x
}

func distance(a, b []float64) (squared float64) {
	for j := range a {
		squared += (a[j] - b[j]) * (a[j] - b[j])
	}
	return squared
}

// By hand: the threshold of the first is (0.9+0.5−1)/2 = 0.2.
func TestSmallProjections(t *testing.T) {
	for _, c := range []struct {
		project func(dst, v []float64, size float64) error
		v       []float64
		size    float64
		want    []float64
	}{
		{keyvalue.Simplex, []float64{0.5, -0.1, 0.9}, 1, []float64{0.3, 0, 0.7}},
		{keyvalue.Simplex, []float64{-5, -6}, 3, []float64{2, 1}},
		{keyvalue.Simplex, []float64{7}, 2, []float64{2}},
		{keyvalue.Simplex, []float64{3, 3, 1}, 0, []float64{0, 0, 0}},
		{keyvalue.Simplex, []float64{math.MaxFloat64, -math.MaxFloat64}, 1, []float64{1, 0}},
		{keyvalue.Simplex, []float64{0, 0}, math.MaxFloat64, []float64{math.MaxFloat64 / 2, math.MaxFloat64 / 2}},
		{keyvalue.L1Ball, []float64{0.5, -0.25}, 1, []float64{0.5, -0.25}},
		{keyvalue.L1Ball, []float64{-0.9, 0.1, 0.5}, 1, []float64{-0.7, 0, 0.3}},
		{keyvalue.L1Ball, []float64{math.MaxFloat64, -math.MaxFloat64}, 1, []float64{0.5, -0.5}},
		{keyvalue.L1Ball, []float64{1, -2}, 0, []float64{0, 0}},
		{keyvalue.L1Ball, nil, 1, nil},
	} {
		got := make([]float64, len(c.v))
		if err := c.project(got, c.v, c.size); err != nil {
			t.Fatal(err)
		}
		if d := distance(got, c.want); !(d <= 1e-28) {
			t.Errorf("projection of %v with size %g: %v, want %v", c.v, c.size, got, c.want)
		}
	}
}

// A point x of a convex set is the projection of v exactly if v − x makes no acute
// angle with any direction into the set (the conditions of Karush, Kuhn and Tucker).
// For the simplex: v − x is one constant θ where x is positive and at most θ where it
// is 0. For the ball, when v is outside, the same holds of the absolute values with
// θ ≥ 0, and the signs agree.
func TestKarushKuhnTucker(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for range 400 {
		v := make([]float64, 1+rng.IntN(200))
		for j := range v {
			v[j] = 3 * rng.NormFloat64()
			if rng.IntN(3) == 0 {
				v[j] = math.Round(v[j]) // ties
			}
		}
		size := math.Exp(6*rng.Float64() - 3)
		for _, p := range projections {
			x := make([]float64, len(v))
			if err := p.project(x, v, size); err != nil {
				t.Fatal(err)
			}
			norm := 0.0
			for _, g := range v {
				norm += math.Abs(g)
			}
			if p.name == "l1 ball" && norm <= size {
				if !slices.Equal(x, v) {
					t.Errorf("a point inside the ball was moved: %v to %v", v, x)
				}
				continue
			}
			sum, low, high, zero := 0.0, math.Inf(1), math.Inf(-1), math.Inf(-1)
			for j := range x {
				a, b := x[j], v[j]
				if p.name == "l1 ball" {
					if a != 0 && math.Signbit(a) != math.Signbit(b) {
						t.Fatalf("coordinate %d: %g became %g", j, b, a)
					}
					a, b = math.Abs(a), math.Abs(b)
					zero = max(zero, 0) // θ ≥ 0
				}
				if a < 0 {
					t.Fatalf("coordinate %d is %g", j, a)
				}
				sum += a
				if a > 0 {
					low, high = min(low, b-a), max(high, b-a)
				} else {
					zero = max(zero, b)
				}
			}
			if math.Abs(sum-size) > 1e-12*size*float64(len(x)) {
				t.Errorf("%s: the sum is %g, want %g", p.name, sum, size)
			}
			if high-low > 1e-12 || zero > low+1e-12 {
				t.Errorf("%s: what was taken away lies in [%g, %g], and %g where nothing is left", p.name, low, high, zero)
			}
		}
	}
}

// The projection is idempotent, closer than random points of the set, works in place
// and is never further from a point of the set than v was.
func TestProjectionsAreClosest(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	for range 200 {
		dim, size := 1+rng.IntN(20), 2*rng.Float64()
		v := make([]float64, dim)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		for _, p := range projections {
			x, again, inPlace := make([]float64, dim), make([]float64, dim), slices.Clone(v)
			if err := errors.Join(p.project(x, v, size), p.project(again, x, size), p.project(inPlace, inPlace, size)); err != nil {
				t.Fatal(err)
			}
			if distance(x, again) > 1e-28 {
				t.Errorf("%s: %v was projected again, to %v", p.name, x, again)
			}
			if !slices.Equal(x, inPlace) {
				t.Errorf("%s: in place %v, elsewhere %v", p.name, inPlace, x)
			}
			for range 20 {
				y := p.feasible(rng, dim, size)
				if distance(v, y) < distance(v, x)-1e-12 {
					t.Errorf("%s: %v is closer to %v than %v is", p.name, y, v, x)
				}
				if distance(x, y) > distance(v, y)+1e-12 {
					t.Errorf("%s: %v is further from %v than %v was", p.name, x, y, v)
				}
			}
		}
	}
}

func TestWhatCannotBeProjectedIsRefused(t *testing.T) {
	for _, p := range projections {
		for _, c := range []struct {
			dst, v []float64
			size   float64
		}{
			{make([]float64, 1), []float64{1, 2}, 1},
			{[]float64{0, 0}, []float64{1, math.NaN()}, 1},
			{[]float64{0, 0}, []float64{math.Inf(-1), 1}, 1},
			{[]float64{0, 0}, []float64{1, 2}, math.NaN()},
			{[]float64{0, 0}, []float64{1, 2}, math.Inf(1)},
			{[]float64{0, 0}, []float64{1, 2}, -1},
		} {
			var param *fl.ParamError
			if err := p.project(c.dst, c.v, c.size); !errors.As(err, &param) {
				t.Errorf("%s of %v with size %g: %v, want a ParamError", p.name, c.v, c.size, err)
			}
			if c.dst[0] != 0 {
				t.Errorf("%s of %v: wrote %v", p.name, c.v, c.dst)
			}
		}
	}
	if keyvalue.Simplex(nil, nil, 1) == nil {
		t.Error("no coordinate sums to 1: want an error")
	}
}
