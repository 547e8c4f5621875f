package clip_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/clip"
)

const (
	most  = math.MaxFloat64
	least = math.SmallestNonzeroFloat64
)

// The clipped gradient has the direction of the gradient and at most the norm scale, and is
// the gradient where that is not longer.
func TestEveryFiniteGradientIsClipped(t *testing.T) {
	for _, grad := range [][]float64{
		{3, -4, 0}, {0, 0, 0}, {math.Copysign(0, -1), 0, 0}, {least, -least, 0}, {most, -most, most}, {most, 0, least},
		{1e300, 1e-300, -1e300}, {0x1p901, 1, 1}, {0x1p899, 0, 0}, {1e-310, -1e-310, 1e-320},
	} {
		for _, scale := range []float64{0x1p-900, 1e-300, 0.5, 1, 5, 100, 0x1p900, 1e300, most / 4} {
			for _, norm := range []float64{1, 2} {
				before := slices.Clone(grad)
				g, err := clip.Measure(grad, 3, norm, scale)
				if err != nil {
					t.Fatalf("%v: %v", grad, err)
				}
				factor, largest := g.Factor(scale), 0.0
				clipped := make([]float64, 3)
				for j, v := range g.Short {
					clipped[j] = v * factor
					largest = max(largest, math.Abs(grad[j]))
				}
				if slices.Max(g.Short) > 0x1p900 || slices.Min(g.Short) < -0x1p900 {
					t.Errorf("%v: %v may overflow in a sum", before, g.Short)
				}
				if !slices.Equal(grad, before) || math.IsInf(g.Length, 0) || math.IsNaN(factor) {
					t.Fatalf("%v: %+v with the factor %g", before, g, factor)
				}
				if got := floats.Norm(clipped, norm); !(got <= scale*(1+1e-12)) {
					t.Errorf("%v, scale %g: the L%g norm is %g", grad, scale, norm, got)
				}
				if largest == 0 {
					continue
				}
				// In units of the largest coordinate, in which no norm overflows.
				unit := make([]float64, 3)
				for j, v := range grad {
					unit[j] = v / largest
				}
				longest := min(largest, scale/floats.Norm(unit, norm))
				for j, v := range unit {
					if want := v * longest; math.Abs(clipped[j]-want) > 1e-12*min(scale, largest)+0x1p-1070 {
						t.Errorf("%v, scale %g, L%g: coordinate %d is %g, want %g", grad, scale, norm, j, clipped[j], want)
					}
				}
			}
		}
	}
}

func TestWhatIsNoGradientIsRefused(t *testing.T) {
	for _, bad := range [][]float64{nil, {1, 2}, {1, math.NaN(), 2}, {most, most, math.Inf(-1)}, {math.Inf(1), 0, math.NaN()}} {
		var p *fl.ParamError
		if _, err := clip.Measure(bad, 3, 2, 1); !errors.As(err, &p) || p.Param != "gradient" {
			t.Errorf("%v: %v, want a ParamError for gradient", bad, err)
		}
	}
}

func TestUsualGradientsAreNotCopied(t *testing.T) {
	grad := make([]float64, 100)
	grad[3] = 7
	if n := testing.AllocsPerRun(10, func() {
		if g, err := clip.Measure(grad, 100, 2, 1); err != nil || g.Length != 7 || g.Limit != 1 {
			t.Errorf("%+v, %v", g, err)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
