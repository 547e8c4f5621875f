package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// What is added of a gradient without writing it out is what the clip leaves of the gradient.
func TestClippedGradientsNeedNotBeWrittenOut(t *testing.T) {
	e := apart(t, 0.5)
	rng := rand.New(rand.NewPCG(2, 5))
	p, of := make([]float64, e.classes), e.sizes()
	for _, c := range []clipping{ternaryClip(3, 0.2), ternaryClip(60, 0.2), ternaryClip(100, 0.01), ternaryClip(1000, 10)} {
		want := [3][]float64{make([]float64, e.Dim()), make([]float64, e.Dim()), make([]float64, e.Dim())}
		got := [3][]float64{make([]float64, e.Dim()), make([]float64, e.Dim()), make([]float64, e.Dim())}
		for i := range 40 {
			for k := range p {
				p[k] = rng.NormFloat64()
			}
			p[1] *= 0.01
			grad := make([]float64, e.Dim())
			e.addGradient(grad, p, i)
			c.apply(grad)
			for j, v := range grad {
				want[0][j] += v
				want[1][j] += math.Abs(v)
				want[2][j] += v * v
			}
			e.addClipped(got[0], got[1], got[2], p, i, c, of[i])
		}
		for k, name := range []string{"sums", "absolute values", "squares"} {
			if !floats.EqualApprox(got[k], want[k], 1e-12) {
				t.Errorf("%+v: %s are off by %g", c, name, floats.Distance(got[k], want[k], math.Inf(1)))
			}
		}
	}
}
