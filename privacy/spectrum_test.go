package privacy

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// windows returns the windows of a composition's two sides at a δ.
func windows(t *testing.T, d *Distribution, delta float64) []*window {
	t.Helper()
	var out []*window
	upper, lower := d.sides()
	for _, s := range []sums{upper, lower} {
		w, err := s.windowFor(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// composed are Gaussian and shuffled mechanisms, alike and different, in numbers that are the larger
// the more of them there are.
func composed(t *testing.T, counts ...int) []*Distribution {
	t.Helper()
	events := [][]Event{
		{{Kind: KindGaussian, Sigma: 10, Count: 1}},
		{{Kind: KindGaussian, Sigma: 3, Count: 1}},
		{{Kind: KindShuffled, Epsilon: 2, Sparsity: 4, Slots: 32, Clients: 500, Count: 1}},
		{{Kind: KindGaussian, Sigma: 10, Count: 3}, {Kind: KindGaussian, Sigma: 40, Count: 2}, {Kind: KindPure, Epsilon: 0.1, Count: 1}},
	}
	var out []*Distribution
	for _, e := range events {
		one, err := Compose(t.Context(), e, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range counts {
			d, err := one.Compose(count)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, d)
		}
	}
	return out
}

// A few frequencies say what all points of the same window do: their bounds on δ overlap and are as
// close to each other.
func TestFewFrequenciesAreEnough(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	for i, d := range composed(t, 200, 1000) {
		for side, w := range windows(t, d, 1e-6) {
			few, ok := w.tail.(*spectrum)
			if !ok || len(few.waves) > w.size/100 {
				t.Errorf("%d, side %d: not a few of %d frequencies", i, side, w.size)
				continue
			}
			all := *w
			if err := all.pointwise(t.Context(), w.tilted(w.theta)); err != nil {
				t.Fatal(err)
			}
			_, mean, variance := w.cumulant(w.theta)
			for _, z := range []float64{-3, -0.3, 0, 1.7, 5} {
				epsilon := mean + z*math.Sqrt(variance)
				lo, hi := w.divergence(epsilon)
				wantLo, wantHi := all.divergence(epsilon)
				if lo > wantHi || hi < wantLo || !(lo <= hi) {
					t.Errorf("%d, side %d, z = %v: [%v, %v] and point by point [%v, %v]", i, side, z, lo, hi, wantLo, wantHi)
				}
				if wide := 4 * (wantHi - wantLo); hi-lo > wide {
					t.Errorf("%d, side %d, z = %v: off by %v, point by point by %v", i, side, z, hi-lo, wide/4)
				}
			}
		}
	}
}

// Every frequency that is left out is negligible: the transform of the composition there, computed
// from its law, is below what the others are bounded by.
func TestFrequenciesLeftOutAreNegligible(t *testing.T) {
	for i, d := range composed(t, 1000) {
		for side, w := range windows(t, d, 1e-6) {
			few, ok := w.tail.(*spectrum)
			if !ok {
				t.Fatalf("%d, side %d: point by point", i, side)
			}
			kept := map[int]bool{}
			for _, w := range few.waves {
				kept[w.frequency] = true
			}
			laws, rng, seen := w.tilted(w.theta), rand.New(rand.NewPCG(1, uint64(i))), 0
			border := []int{}
			for j := range kept {
				border = append(border, j-1, j+1)
			}
			for range 100 {
				border = append(border, rng.IntN(w.size/2+1))
			}
			for _, j := range border {
				if kept[j] || j < 0 || j > w.size/2 {
					continue
				}
				log := 0.0
				for _, l := range laws {
					z, e := few.transform(l, j)
					log += l.count * math.Log(cmplx.Abs(z)+e)
				}
				if seen++; log > math.Log(negligibleFrequencies) {
					t.Errorf("%d, side %d: frequency %d of %d has e^%v", i, side, j, w.size, log)
				}
			}
			if seen < 50 {
				t.Errorf("%d, side %d: %d frequencies left out were looked at", i, side, seen)
			}
		}
	}
}

// Both tails are the defining sum, for every start and also for a gap of many steps.
func TestTailsAreTheirSums(t *testing.T) {
	const n, step = 1024, 0.01
	rng := rand.New(rand.NewPCG(7, 7))
	waves := []wave{{0, 1. / n}, {1, complex(0.6/n, 0.2/n)}, {5, complex(-0.1/n, 0.3/n)}, {n / 2, 0.05 / n}}
	mass := make([]float64, n)
	for i := range mass {
		for _, w := range waves {
			mass[i] += real(w.coefficient * cmplx.Exp(complex(0, 2*math.Pi*float64(w.frequency*i%n)/n)))
		}
	}
	for _, theta := range []float64{0, 0.3, 20} {
		tails := map[string]tail{
			"points":   newPoints(mass, theta, step),
			"spectrum": &spectrum{waves: waves, size: n, theta: theta, step: step},
		}
		for range 200 {
			start, gap := rng.IntN(n), step*rng.Float64()
			if rng.IntN(5) == 0 {
				gap *= 300
			}
			want := 0.0
			for i := start; i < n; i++ {
				x := gap + float64(i-start)*step
				want += mass[i] * math.Exp(-theta*x) * -math.Expm1(-x)
			}
			for name, tail := range tails {
				got, off := tail.above(start, gap)
				if math.Abs(got-want) > off+1e-12*math.Abs(want) || off > 1e-12 {
					t.Errorf("%s, θ = %v, from %d with gap %v: %v ± %v, want %v", name, theta, start, gap, got, off, want)
				}
				if name == "spectrum" && !(off > ulp*math.Abs(want)) { // of terms with both signs
					t.Errorf("θ = %v, from %d with gap %v: no bound on rounding: %v", theta, start, gap, off)
				}
			}
		}
	}
}
