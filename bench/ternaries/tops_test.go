package ternaries

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestTopSKeepsTheLargestAndRemembersTheRest(t *testing.T) {
	top, err := NewTopS(5, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := top.Sample([]float64{0.5, -3, 0.25, 2, -0.125})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Index, []uint32{1, 3}) || !slices.Equal(x.Sign, []int8{-1, 1}) {
		t.Errorf("first call: %v %v, want coordinates 1 and 3 with signs - and +", x.Index, x.Sign)
	}
	if want := []float64{0.5, -2, 0.25, 1, -0.125}; !slices.Equal(top.Memory(), want) {
		t.Errorf("memory %v, want %v", top.Memory(), want)
	}
	// With a zero gradient the memory is what is sent next.
	if x, err = top.Sample(make([]float64, 5)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Index, []uint32{1, 3}) {
		t.Errorf("second call: %v, want the remembered 1 and 3", x.Index)
	}
}

// Dummies are dim, dim+1, … with sign +1, whatever the gradient's signs.
func TestDummiesAreNumberedFromDimWithPlus(t *testing.T) {
	top, err := NewTopS(6, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := top.Sample([]float64{0, -1, 0, -2, 0, 0})
	if err != nil || !slices.Equal(x.Index, []uint32{1, 3, 6, 7, 8}) || !slices.Equal(x.Sign, []int8{-1, -1, 1, 1, 1}) {
		t.Errorf("%v %v, %v", x.Index, x.Sign, err)
	}
}

func TestShapesOutOfRangeAreRefused(t *testing.T) {
	for param, of := range map[string]struct {
		dim, sparsity int
		scale         float64
	}{"dim": {0, 1, 1}, "dim ": {fl.MaxDim + 1, 1, 1}, "sparsity": {3, 4, 1}, "sparsity ": {3, 0, 1}, "scale": {3, 1, math.NaN()}, "scale ": {3, 1, 0x1p901}} {
		var p *fl.ParamError
		if _, err := NewTopS(of.dim, of.sparsity, of.scale); !errors.As(err, &p) || p.Param != strings.TrimSpace(param) {
			t.Errorf("%+v: %v, want a ParamError for %s", of, err, param)
		}
	}
}

// What was sent, times τ, plus the memory is all that was ever put in.
func TestErrorFeedbackLosesNothing(t *testing.T) {
	const dim, scale = 40, 0.5
	top, err := NewTopS(dim, 7, scale)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	put, sent := make([]float64, dim), make([]float64, dim)
	grad := make([]float64, dim)
	for range 30 {
		for j := range grad {
			grad[j] = float64(rng.IntN(33)-16) / 8 // exact in binary
			put[j] += grad[j]
		}
		x, err := top.Sample(grad)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Validate(dim, 7); err != nil {
			t.Fatal(err)
		}
		for i, j := range x.Index {
			if j < dim {
				sent[j] += scale * float64(x.Sign[i])
			}
		}
	}
	for j, m := range top.Memory() {
		if sent[j]+m != put[j] {
			t.Errorf("coordinate %d: sent %g + memory %g, want %g", j, sent[j], m, put[j])
		}
	}
}

func TestTopSTiesZerosAndErrors(t *testing.T) {
	top, err := NewTopS(4, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := top.Sample([]float64{0, 1, 1, 0})
	if err != nil || !slices.Equal(x.Index, []uint32{1, 2, 4}) {
		t.Errorf("zeros: %v, %v, want 1, 2 and one dummy", x.Index, err)
	}
	ties, _ := NewTopS(4, 2, 1)
	if x, err = ties.Sample([]float64{-1, 1, 1, 1}); err != nil || !slices.Equal(x.Index, []uint32{0, 1}) {
		t.Errorf("ties: %v, %v, want the lower indices 0 and 1", x.Index, err)
	}
	before := ties.Memory()
	if _, err := ties.Sample([]float64{1, 2, math.NaN(), 0}); err == nil {
		t.Error("NaN: want an error")
	}
	if _, err := ties.Sample([]float64{1}); err == nil {
		t.Error("short gradient: want an error")
	}
	if !slices.Equal(before, ties.Memory()) {
		t.Error("a refused gradient changed the memory")
	}
}

// Gradients that are not finite, and finite ones whose sum with the memory is
// not, are refused and leave the memory as it was.
func TestTopSRefusesOverflow(t *testing.T) {
	top, err := NewTopS(3, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := top.Sample([]float64{math.MaxFloat64, -math.MaxFloat64, 0.5}); err != nil {
		t.Fatal(err)
	}
	before := top.Memory()
	for name, grad := range map[string][]float64{
		"Inf": {0, 0, math.Inf(1)}, "-Inf": {0, 0, math.Inf(-1)},
		"overflow":          {0.25, -math.MaxFloat64, 0},
		"positive overflow": {math.MaxFloat64, 0, 0},
	} {
		if x, err := top.Sample(grad); err == nil {
			t.Errorf("%s: got %v, want an error", name, x.Index)
		}
		if !slices.Equal(before, top.Memory()) {
			t.Fatalf("%s: the memory went from %v to %v", name, before, top.Memory())
		}
	}
	if _, err := top.Sample([]float64{-1, 1, 0}); err != nil {
		t.Errorf("a gradient that fits: %v", err)
	}
}

func TestSelectLargestAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	for range 500 {
		a := make([]float64, 1+rng.IntN(40))
		for i := range a {
			a[i] = float64(rng.IntN(12))
		}
		sorted := slices.Clone(a)
		slices.SortFunc(sorted, func(x, y float64) int { return int(y - x) })
		k := 1 + rng.IntN(len(a))
		if got := selectLargest(slices.Clone(a), k); got != sorted[k-1] {
			t.Fatalf("selectLargest(%v, %d) = %g, want %g", a, k, got, sorted[k-1])
		}
	}
}
