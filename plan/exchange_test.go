package plan

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

func TestWeightsAndTheirEpsilon(t *testing.T) {
	for _, c := range []struct{ likely, slots int }{{1, 2}, {73, 74}, {73, 128}, {73, 146}, {73, 4096}, {1 << 20, 1 << 31}} {
		for _, epsilon := range []float64{1e-3, 0.1, 2, 10, 19} {
			w := weight(c.likely, c.slots, epsilon)
			if got := epsilonOf(c.likely, c.slots, w); math.Abs(got/epsilon-1) > 1e-9 {
				t.Errorf("%+v: ε = %g has weight %g, which has ε = %g", c, epsilon, w, got)
			}
			const h = 1e-5
			slope := math.Log(weight(c.likely, c.slots, epsilon*(1+h))/weight(c.likely, c.slots, epsilon*(1-h))) / (2 * h)
			if got := growth(c.likely, c.slots, epsilon); math.Abs(got/slope-1) > 1e-4 {
				t.Errorf("%+v, ε = %g: growth %g, want %g", c, epsilon, got, slope)
			}
		}
		if got := epsilonOf(c.likely, c.slots, math.Inf(1)); got != fl.MaxEpsilon {
			t.Errorf("%+v: an infinite weight has ε = %g", c, got)
		}
	}
}

// The accountant knows nothing of weights, and weights nothing of blankets and of composition.
// They agree: the composed central ε is the ε of Gaussian noise of the same μ, whatever the number
// of clients, of rounds and of slots. So does the number that the weights are worth, C/(n/(2T)) = μ².
//
// The tolerance of μ has two parts. The grid of losses raises ε by up to one part in a thousand.
// The counts of nα messages are normal in the limit only: their difference is symmetric, so
// that the first correction comes from its kurtosis, in proportion to 1/(nα). At the
// points below it is at most 5/(nα). The test has no chance in it.
func TestTheAccountantAgreesWithGaussianNoise(t *testing.T) {
	if !*Long {
		t.Skip("a comparison of numbers")
	}
	const delta = 1e-6
	tried := 0
	type run struct{ n, rounds int }
	few := []run{{6000, 1}, {60000, 30}}
	for _, at := range []struct {
		scheme          *sparse.Scheme
		sparsity, slots int
		runs            []run
	}{
		{coco.Scheme, 73, 4096, append(few, run{6000, 100}, run{60000, 10}, run{1000000, 1}, run{1000000, 100})},
		{coco.Scheme, 8, 64, few}, {collision.Scheme, 73, 128, few},
	} {
		for _, c := range at.runs {
			for _, central := range []float64{0.05, 0.25, 1, 4} {
				d := Demand{Dim: 1970, Sparsity: at.sparsity, Clients: c.n, Rounds: c.rounds, Participations: c.rounds, Epsilon: central, Delta: delta}
				p := d.point()
				p.Slots = at.slots
				p.Epsilon = epsilonOf(at.sparsity, at.slots, weightWithin(central, delta, c.n, c.rounds))
				pairs := float64(min(at.sparsity, at.slots-at.sparsity))
				counts := float64(c.n) * pairs / (float64(at.sparsity)*math.Expm1(p.Epsilon) + float64(at.slots))
				if counts < 50 { // where the limit says little
					continue
				}
				tried++
				got, err := newSearch().central(t.Context(), at.scheme, p, d)
				if err != nil {
					t.Fatal(err)
				}
				spent, budget := sigma(t, got, delta), sigma(t, central, delta)
				if off := math.Abs(budget/spent - 1); off > 0.001+5/counts {
					t.Errorf("%s, t = %d, %+v: ε = %g composes to %g, whose μ is off by %.2g from the μ of %g, want at most %.2g",
						at.scheme.Name(), at.slots, c, p.Epsilon, got, off, central, 0.001+5/counts)
				}
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d points", tried)
	}
}

func sigma(t *testing.T, epsilon, delta float64) float64 {
	t.Helper()
	s, err := baseline.GaussianSigma(epsilon, delta, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
