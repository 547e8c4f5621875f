package privacy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A pair is the symmetric pair of laws with the given outcomes of positive loss. Its curve is
// Σ mass·(1 − e^{ε − loss})_+.
type pair []atom

// newPair returns one with random outcomes, of total mass at most 1 under both laws together.
func newPair(rng *rand.Rand) pair {
	p := make(pair, 1+rng.IntN(4))
	for i := range p {
		p[i] = atom{loss: 0.1 + 3*rng.Float64(), mass: rng.Float64() / float64(2*len(p))}
	}
	return p
}

func (p pair) delta(epsilon float64) (delta float64) {
	for _, a := range p {
		delta += a.mass * math.Max(0, -math.Expm1(epsilon-a.loss))
	}
	return delta
}

// at returns the value at a loss of the curve through vertices, which is a line in q between two of them
// and stays as it is behind the last.
func at(curve []vertex, loss float64) float64 {
	i, _ := slices.BinarySearchFunc(curve, loss, func(v vertex, loss float64) int {
		if v.loss < loss {
			return -1
		}
		return 1
	})
	if i == len(curve) {
		return curve[i-1].delta
	}
	a, b := mirror(curve[0]), curve[i]
	if i > 0 {
		a = curve[i-1]
	}
	return a.delta + slope(a, b)*math.Expm1(loss-a.loss)
}

// The hull of points and their mirror images, whose losses have the other sign, is the hull of all of
// them. Curves are given that are not convex, and too high at small losses.
func TestSymmetricHullIsThatOfTheMirrorImagesToo(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{71}))
	cut := 0
	for range 2000 {
		points := make([]vertex, 2+rng.IntN(6))
		delta := rng.Float64()
		for i := range points {
			points[i] = vertex{float64(i) / 4, delta}
			delta *= rng.Float64()
		}
		var all []vertex
		for _, p := range slices.Backward(points) {
			if p.loss > 0 {
				all = append(all, mirror(p))
			}
		}
		want := lowerHull(append(all, points...))
		want = slices.DeleteFunc(want, func(v vertex) bool { return v.loss < 0 })
		got := symmetricHull(points)
		if got[0].loss > 0 {
			cut++
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v: hull %v, want %v", points, got, want)
		}
		// The masses under both laws, the one at 0 and the one at infinity make up a law: 1 at q = 0.
		total := got[len(got)-1].delta
		for _, a := range hullAtoms(got, 0) {
			total += a.mass * (1 + math.Exp(-a.loss))
		}
		if total > 1+1e-12 {
			t.Fatalf("%v: a law of mass %v", points, total)
		}
		// They have the curve of the hull.
		for _, v := range got {
			sum := got[len(got)-1].delta
			for _, a := range hullAtoms(got, 0) {
				sum += a.mass * math.Max(0, -math.Expm1(v.loss-a.loss))
			}
			if math.Abs(sum-v.delta) > 1e-12 {
				t.Fatalf("%v: δ(%v) = %v, want %v", points, v.loss, sum, v.delta)
			}
		}
	}
	if cut < 100 {
		t.Errorf("%d curves begin behind 0", cut)
	}
}

// What is known of a curve are points up to gap above it. The inner hull is below the curve everywhere, for
// points anywhere in that range.
func TestInnerHullIsBelowTheCurve(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{72}))
	for range 3000 {
		p, gap := newPair(rng), math.Pow(10, -2-3*rng.Float64())
		points := make([]vertex, 16)
		for i := range points {
			loss := float64(i) / 4
			points[i] = vertex{loss, p.delta(loss) + gap*float64(rng.IntN(2))}
			if i > 0 {
				points[i].delta = math.Min(points[i].delta, points[i-1].delta)
			}
		}
		inner := innerHull(symmetricHull(points), gap)
		for loss := 0.0; loss < 4; loss += 1. / 64 {
			if got, most := at(inner, loss), p.delta(loss); got > most+1e-12 {
				t.Fatalf("%v, gap %v: inner hull %v at %v, the curve has %v", p, gap, got, loss, most)
			}
		}
	}
}
