package hetero_test

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// demands draws n demands over 10 orders of magnitude, with ties and +Inf.
func demands(rng *rand.Rand, n int) []float64 {
	eps := make([]float64, n)
	for i := range eps {
		switch u := rng.Float64(); {
		case u < 0.15:
			eps[i] = inf
		case u < 0.35 && i > 0:
			eps[i] = eps[rng.IntN(i)]
		default:
			eps[i] = math.Pow(10, -6+10*rng.Float64())
		}
	}
	return eps
}

func distance(w []float64) float64 {
	sum := 0.
	for _, x := range w {
		sum += math.Abs(x - 1/float64(len(w)))
	}
	return sum
}

func square(w []float64) float64 { return floats.Dot(w, w) }

func scale(w, eps []float64) float64 {
	largest := 0.
	for i := range w {
		largest = max(largest, w[i]/eps[i])
	}
	return largest
}

// vertices calls f for all w in the simplex with w ≤ bound such that all
// coordinates but those that are free are fixed at one of the levels, and the free
// ones are equal.
func vertices(bound []float64, levels func(i int) []float64, f func(w []float64)) {
	n := len(bound)
	w, free := make([]float64, n), make([]bool, n)
	var walk func(i, frees int, rest float64)
	walk = func(i, frees int, rest float64) {
		if rest < -1e-12 {
			return
		}
		if i == n {
			if frees == 0 {
				return
			}
			for j := range w {
				if free[j] {
					if w[j] = max(0, rest/float64(frees)); w[j] > bound[j]*(1+1e-12) {
						return
					}
				}
			}
			f(w)
			return
		}
		for _, level := range levels(i) {
			if level <= bound[i] {
				w[i], free[i] = level, false
				walk(i+1, frees, rest-level)
			}
		}
		free[i] = true
		walk(i+1, frees+1, rest)
	}
	walk(0, 0, 1)
}

// bruteForce minimises g(w) + factor·‖w/ε‖_∞² by golden section over the
// logarithm of the cap on w/ε, for which the rest is convex, and enumeration of the
// vertices at each cap.
func bruteForce(eps []float64, factor float64, g func([]float64) float64, l1 bool) float64 {
	n := float64(len(eps))
	bound := make([]float64, len(eps))
	at := func(logCap float64) float64 {
		c, best := math.Exp(logCap), inf
		for i, e := range eps {
			bound[i] = math.Min(1, c*e)
		}
		levels := func(i int) []float64 {
			if l1 {
				return []float64{bound[i], 1 / n}
			}
			return []float64{bound[i]}
		}
		vertices(bound, levels, func(w []float64) { best = min(best, g(w)) })
		return best + factor*c*c
	}
	sum, least := 0., inf
	for _, e := range eps {
		sum, least = sum+e, min(least, e)
	}
	if math.IsInf(least, 1) {
		return at(math.Log(1e-300))
	}
	// Smaller caps allow no w. A cap larger than the uniform weights' cap is of no use.
	lo, hi := math.Log(1/sum)+1e-9, math.Log(1/(n*least))
	if math.IsInf(sum, 1) {
		lo = hi - 50
	}
	best := min(at(lo), at(hi))
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := at(a), at(b)
	for range 45 {
		best = min(best, fa, fb)
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = at(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = at(b)
		}
	}
	return best
}
