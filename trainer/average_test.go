package trainer

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Against the textbook recurrence with bias correction, after every iterate.
func TestAverageFollowsItsRecurrence(t *testing.T) {
	for _, decay := range []float64{0.3, 0.9, 0.999} {
		a := must[*Average](t)(NewAverage(4, decay))
		rng, ema, got := testRand(1), make([]float64, 4), make([]float64, 4)
		for step := range 200 {
			p := make([]float64, 4)
			for i := range p {
				p[i] = rng.NormFloat64()
				ema[i] = decay*ema[i] + (1-decay)*p[i]
			}
			given := slices.Clone(p)
			if err := a.Add(p); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p, given) {
				t.Fatalf("the iterate was changed to %g", p)
			}
			for range 2 { // asking changes nothing
				if err := a.Params(got); err != nil {
					t.Fatal(err)
				}
			}
			want := slices.Clone(ema)
			floats.Scale(1/(1-math.Pow(decay, float64(step+1))), want)
			if !floats.EqualApprox(got, want, 1e-12) {
				t.Fatalf("decay %g step %d: got %g, want %g", decay, step+1, got, want)
			}
		}
	}
}

// Decay 0 is the last iterate to the bit, a decay just below 1 the mean of all,
// and equal iterates are their own average.
func TestAverageLimits(t *testing.T) {
	got, final := make([]float64, 2), []float64{1e40 / 3., -0.1}
	last := must[*Average](t)(NewAverage(2, 0))
	mean := must[*Average](t)(NewAverage(2, math.Nextafter(1, 0)))
	equal := must[*Average](t)(NewAverage(2, 0.7))
	for k := range 10 {
		for a, p := range map[*Average][]float64{
			last:  {final[0] * (2 - float64(k)/9), final[1] * (10 - float64(k))},
			mean:  {float64(k), -2 * float64(k)},
			equal: {3, -1e40},
		} {
			if err := a.Add(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		a    *Average
		want []float64
		tol  float64
	}{
		{last, final, 0},
		{mean, []float64{4.5, -9}, 1e-13},
		{equal, []float64{3, -1e40}, 1e-15},
	} {
		if err := c.a.Params(got); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !(math.Abs(got[i]-c.want[i]) <= c.tol*math.Abs(c.want[i])) {
				t.Errorf("got %g, want %g", got, c.want)
			}
		}
	}
}

// Around an optimum, the average of k independent iterates has 1/k of the
// variance of one: with decay β, (1-β)/(1+β) in the long run.
func TestAverageReducesNoise(t *testing.T) {
	const dim, decay = 2000, 0.9
	a := must[*Average](t)(NewAverage(dim, decay))
	rng, p := testRand(1), make([]float64, dim)
	for range 200 {
		for i := range p {
			p[i] = rng.NormFloat64()
		}
		if err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Params(p); err != nil {
		t.Fatal(err)
	}
	// A sample variance of dim normal numbers has relative standard deviation
	// √(2/dim); five of them fail with probability 6e-7.
	want := (1 - decay) / (1 + decay)
	if got := floats.Dot(p, p) / dim; math.Abs(got/want-1) > 5*math.Sqrt(2./dim) {
		t.Errorf("variance %g, want %g", got, want)
	}
}

func TestAverageErrors(t *testing.T) {
	for decay, want := range map[float64]string{
		1: "trainer: decay: got 1, rule: must be in [0, 1)", -0.1: "trainer: decay: got -0.1", math.Inf(1): "trainer: decay: got +Inf",
	} {
		_, err := NewAverage(1, decay)
		refuses(t, err, want)
	}
	_, err := NewAverage(1, math.NaN())
	refuses(t, err, "trainer: decay: got NaN")
	_, err = NewAverage(0, 0.5)
	refuses(t, err, "trainer: dim: got 0")
	_, err = NewAverage(maxValues+1, 0.5)
	refuses(t, err, "trainer: dim: got 268435457")

	a := must[*Average](t)(NewAverage(2, 0.5))
	got := []float64{7, 7}
	refuses(t, a.Params(got), "trainer: iterates: got 0, rule: must be at least 1")
	if err := a.Add([]float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	refuses(t, a.Add([]float64{1}), "trainer: params: got 1, rule: must have 2 elements")
	refuses(t, a.Add([]float64{5, math.NaN()}), "trainer: params[1]: got NaN")
	refuses(t, a.Add([]float64{5, 2e50}), "trainer: params[1]: got 2e+50")
	refuses(t, a.Params(got[:1]), "trainer: dst: got 1, rule: must have 2 elements")
	if got[0] != 7 || a.Params(got) != nil || !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("refused calls left a trace: %g", got)
	}
}
