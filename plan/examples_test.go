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

// Quick rehearsals say about the same, for many clients and for few with many examples. Rehearsals are counted.
func TestQuickRehearsalsSayAboutTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and other tests have its goroutines")
	}
	for _, c := range []struct{ clients, perClient int }{{60000, 1}, {100, 600}} {
		var seen counter
		q := Request{Clients: c.clients, PerClient: c.perClient, Rounds: 12, Budget: 8, Delta: 1e-6, Examples: apart(t, 0)}
		q.Dim = q.Examples.Dim()
		whole, err := q.Compare(t.Context(), Server)
		if err != nil {
			t.Fatal(err)
		}
		q.Quick, q.Progress = true, &seen
		quick, err := q.Compare(t.Context(), Server)
		if err != nil {
			t.Fatal(err)
		}
		a, b := whole[0].Expected, quick[0].Expected
		if off := math.Abs(a.Accuracy - b.Accuracy); off == 0 || off > min(a.Error, b.Error) || a.Accuracy < 0.5 {
			t.Errorf("%d clients: %v, and quickly %v", c.clients, a, b)
		}
		if seen.done.Load() != rehearsals+1 || seen.all.Load() != rehearsals+1 {
			t.Errorf("%d of %d rehearsals are counted, want all of %d", seen.done.Load(), seen.all.Load(), rehearsals+1)
		}
	}
}
