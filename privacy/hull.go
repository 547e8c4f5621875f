package privacy

import "math"

// A vertex is a point of a hockey-stick curve drawn over q = e^loss, where the curve of any
// pair of laws is convex.
type vertex struct{ loss, delta float64 }

// An atom is an outcome of the first law with the given loss.
type atom struct{ loss, mass float64 }

// slope returns the slope of the chord from a to b in q, times e^{a.loss}, so that no
// exponential overflows.
func slope(a, b vertex) float64 {
	return (b.delta - a.delta) / math.Expm1(b.loss-a.loss)
}

// lowerHull returns the vertices of the lower convex hull of points with increasing
// losses. Points above a convex curve have a hull above it, because each of its edges is
// a chord between two of them. Cost: O(len(points)).
func lowerHull(points []vertex) []vertex {
	hull := make([]vertex, 0, len(points))
	for _, p := range points {
		for len(hull) >= 2 {
			a, b := hull[len(hull)-2], hull[len(hull)-1]
			if slope(b, p)*math.Exp(a.loss-b.loss) > slope(a, b) {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	return hull
}

// symmetricHull is lowerHull for points with losses >= 0, their mirror images included:
// a symmetric pair has δ(−ε) = 1 − e^{−ε}(1 − δ(ε)). The chord from the mirror image of
// (q, δ) to (q, δ) has slope −(1 − δ)/(1 + q), which must not exceed the next one.
func symmetricHull(points []vertex) []vertex {
	hull := lowerHull(points)
	for len(hull) >= 2 && slope(hull[0], hull[1]) < mirrorSlope(hull[0]) {
		hull = hull[1:]
	}
	return hull
}

// mirrorSlope returns the slope of the chord to v from its mirror image, times e^{v.loss}.
func mirrorSlope(v vertex) float64 { return -(1 - v.delta) / (1 + math.Exp(-v.loss)) }

// hullAtoms returns the outcomes with positive loss of the symmetric pair whose curve is
// the hull, which stays at its last value for ever after: that is the mass at +∞. At a
// vertex the slope rises by the mass under the second law, e^{−loss} times that under the
// first. Each mass is raised by slack times its larger slope.
func hullAtoms(hull []vertex, slack float64) []atom {
	atoms := make([]atom, 0, len(hull))
	before := mirrorSlope(hull[0])
	for i, v := range hull {
		after, next := 0.0, 0.0
		if i+1 < len(hull) {
			after = slope(v, hull[i+1])
			next = after * math.Exp(hull[i+1].loss-v.loss)
		}
		if mass := after - before - slack*before; mass > 0 && v.loss > 0 {
			atoms = append(atoms, atom{v.loss, mass})
		}
		before = next
	}
	return atoms
}

// innerHull returns a convex curve below every symmetric convex curve whose hull, up to gap
// below it, is hull. Between two neighbours a and b such a curve is above the extensions of
// the chords that end in a and begin in b; where they meet is a vertex. An extension of
// r chords is uncertain by (1 + 2r)·gap, and all vertices are lowered by the largest of
// these, so that the hull of the vertices stays below the extensions in between.
func innerHull(hull []vertex, gap float64) []vertex {
	if len(hull) < 2 {
		return hull
	}
	points := []vertex{mirror(hull[1])}
	if hull[0].loss > 0 {
		points = append(points, mirror(hull[0]))
	}
	points = append(points, hull...)
	inner := make([]vertex, 0, len(hull))
	extension := 0.0
	for j := 1; j+1 < len(points); j++ {
		// In units of y = q/q_a − 1; below the last vertex the curve is above 0.
		before, a, b := points[j-1], points[j], points[j+1]
		width, left := math.Expm1(b.loss-a.loss), slope(before, a)*math.Exp(a.loss-before.loss)
		y, right := -a.delta/left, 0.0
		if j+2 < len(points) {
			after := points[j+2]
			right = slope(b, after) * math.Exp(a.loss-b.loss)
			y = width * (slope(a, b) - right) / (left - right)
			extension = math.Max(extension, (width-y)*math.Exp(a.loss-b.loss)/math.Expm1(after.loss-b.loss))
		}
		extension = math.Max(extension, y/-math.Expm1(before.loss-a.loss))
		inner = append(inner, vertex{math.Max(0, a.loss+math.Log1p(y)), a.delta + left*y})
	}
	for i := range inner {
		inner[i].delta -= gap * (1 + 2*extension)
	}
	return symmetricHull(aboveZero(inner))
}

// aboveZero ends a falling curve where it meets 0. To raise what is below 0 to it, at the same loss, would
// raise the curve before it.
func aboveZero(curve []vertex) []vertex {
	for i, v := range curve {
		switch {
		case v.delta >= 0:
		case i == 0:
			return []vertex{{0, 0}} // the curve of two equal laws
		default:
			a := curve[i-1]
			return append(curve[:i], vertex{a.loss + math.Log1p(-a.delta/slope(a, v)), 0})
		}
	}
	return curve
}

// mirror returns the point that the symmetry of a pair gives for −v.loss.
func mirror(v vertex) vertex { return vertex{-v.loss, 1 - math.Exp(-v.loss)*(1-v.delta)} }
