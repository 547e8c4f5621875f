package keyvalues

import (
	"io"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure/paint"
)

// At ε = ln 9 the optimized allocation has a = 1/2, b = 1/6 and p = 9/10: g = (1/6)/0.4² and
// h = (5/36)/(1/3)². The non-optimized one has ε1 = ln 6 and ε2 = ln 3: g = (1/7)/0.25² and
// h = (6/49)/(5/14)².
func TestCoefficientsByHand(t *testing.T) {
	for i, want := range [][2]float64{1: {16. / 7, 24. / 25}, 2: {25. / 24, 1.25}} {
		b, err := allocations[i].by.UE(math.Log(9))
		if err != nil {
			t.Fatal(err)
		}
		if g, h := ofMean(b.UE()); i > 0 && (math.Abs(g-want[0]) > 1e-12 || math.Abs(h-want[1]) > 1e-12) {
			t.Errorf("%s: %g and %g, want %v", allocations[i].name, g, h, want)
		}
	}
}

func TestCoefficientsOfTheFigure(t *testing.T) {
	r, err := runCoefficients()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 36 || outcomes(r.Verdicts) != "yes yes yes" {
		t.Errorf("%d rows, %v, %v", len(r.Rows), r.Verdicts, err)
	}
	complete(t, r.Verdicts)
	if err := paint.SVG(io.Discard, r.Plot); err != nil {
		t.Error(err)
	}
}
