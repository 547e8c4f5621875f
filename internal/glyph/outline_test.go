package glyph

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

// near reports whether a and b agree to rounding.
func near(a, b point) bool { return math.Hypot(a.x-b.x, a.y-b.y) < 1e-12 }

// box returns the corners of a rectangle, clockwise on the screen.
func box(x0, y0, x1, y1 float64) []point {
	return []point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
}

func mustOutlines(t testing.TB) *[10][]Outline {
	t.Helper()
	all, err := Digits()
	if err != nil {
		t.Fatal(err)
	}
	return &all
}

// pushed returns the polygons of o, pushed out by weight.
func pushed(o Outline, weight float64) [][]point {
	var all [][]point
	for _, poly := range o {
		var moved []point
		for _, v := range poly {
			moved = append(moved, point{v.at.x + weight*v.out.x, v.at.y + weight*v.out.y})
		}
		all = append(all, moved)
	}
	return all
}

func inkArea(polygons [][]point) float64 {
	sum := 0.0
	for _, poly := range polygons {
		sum += signedArea(poly)
	}
	return math.Abs(sum)
}

// TestOutlineTopology: each digit of each face has the holes that its shape has,
// at the height where they belong, so that label and picture go together.
func TestOutlineTopology(t *testing.T) {
	holes := [10]int{0: 1, 4: 1, 6: 1, 8: 2, 9: 1}
	for d, faces := range mustOutlines(t) {
		if len(faces) != 10 {
			t.Errorf("digit %d: got %d faces, want 10", d, len(faces))
		}
		for i, o := range faces {
			polygons := pushed(o, 0)
			if got := len(o) - 1; got != holes[d] {
				t.Fatalf("digit %d, face %d: got %d holes, want %d", d, i, got, holes[d])
			}
			ring := slices.MaxFunc(polygons, func(a, b []point) int {
				return cmp.Compare(math.Abs(signedArea(a)), math.Abs(signedArea(b)))
			})
			top, bottom := extent(ring)
			if h := bottom - top; h < 0.7 || h > 0.8 {
				t.Errorf("digit %d, face %d: got height %.3f em, want 0.7 to 0.8", d, i, h)
			}
			for _, poly := range polygons {
				if &poly[0] == &ring[0] {
					continue
				}
				if (signedArea(poly) > 0) == (signedArea(ring) > 0) {
					t.Errorf("digit %d, face %d: a hole runs the same way round as the outside", d, i)
				}
				from, to := extent(poly)
				middle := ((from+to)/2 - top) / (bottom - top)
				if d == 6 && middle < 0.55 || d == 9 && middle > 0.45 || d == 0 && math.Abs(middle-0.5) > 0.05 {
					t.Errorf("digit %d, face %d: got the hole at %.2f of the height", d, i, middle)
				}
				if d == 0 && to-from < 0.6*(bottom-top) {
					t.Errorf("digit 0, face %d: got a hole of %.2f of the height, want 0.6 or more", i, (to-from)/(bottom-top))
				}
			}
		}
	}
}

func extent(poly []point) (top, bottom float64) {
	top, bottom = math.Inf(1), math.Inf(-1)
	for _, p := range poly {
		top, bottom = min(top, p.y), max(bottom, p.y)
	}
	return top, bottom
}

// TestFacesDiffer: no two faces have the same digit, which would only draw the
// one they share more often.
func TestFacesDiffer(t *testing.T) {
	for d, faces := range mustOutlines(t) {
		for i := range faces {
			for j := range i {
				if slices.EqualFunc(faces[i], faces[j], func(a, b []vertex) bool { return slices.Equal(a, b) }) {
					t.Errorf("digit %d: faces %d and %d are equal", d, j, i)
				}
			}
		}
	}
}

// TestPushAddsInk: a digit pushed out by w gains w times the length of its
// outline, and loses as much when pushed in, but for terms of order w² and for
// the sharp corners of the 4, which move less: 4.1% at most in these faces.
func TestPushAddsInk(t *testing.T) {
	const w = 0.001
	for d, faces := range mustOutlines(t) {
		for i, o := range faces {
			length := 0.0
			for _, poly := range pushed(o, 0) {
				for j, p := range poly {
					q := poly[(j+1)%len(poly)]
					length += math.Hypot(q.x-p.x, q.y-p.y)
				}
			}
			before := inkArea(pushed(o, 0))
			for _, sign := range []float64{1, -1} {
				gain := sign * (inkArea(pushed(o, sign*w)) - before)
				if math.Abs(gain-w*length) > 0.05*w*length {
					t.Errorf("digit %d, face %d: got %.6f em² for %+g em, want %.6f", d, i, gain, sign*w, w*length)
				}
			}
		}
	}
}

// TestNewOutlineExact: pushed out, a square ring gains its width outside and
// loses it inside, whichever way round it runs.
func TestNewOutlineExact(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		outside, hole := box(0, 0, 10, 10), box(4, 4, 6, 6)
		slices.Reverse(hole)
		wantOutside, wantHole := box(-1, -1, 11, 11), box(5, 5, 5, 5)
		if reverse {
			slices.Reverse(outside)
			slices.Reverse(hole)
			slices.Reverse(wantOutside)
		}
		got := pushed(newOutline([][]point{outside, hole}), 1)
		if !slices.EqualFunc(got[0], wantOutside, near) {
			t.Errorf("reverse %v: outside: got %v, want %v", reverse, got[0], wantOutside)
		}
		if !slices.EqualFunc(got[1], wantHole, near) {
			t.Errorf("reverse %v: hole: got %v, want %v", reverse, got[1], wantHole)
		}
	}
}

// TestSpikeIsLimited: a needle's point moves by no more than 3, and one that
// turns back on itself stays finite.
func TestSpikeIsLimited(t *testing.T) {
	o := newOutline([][]point{{{0, 0}, {100, 0.5}, {0, 1}}, {{0, 0}, {100, 0}}})
	if out := o[0][1].out; math.Hypot(out.x, out.y) > 3+1e-12 || out.x < 0 {
		t.Errorf("got %v, want at most 3 to the right", out)
	}
	if out := o[1][1].out; out != (point{}) {
		t.Errorf("full turn: got %v, want 0", out)
	}
}

func TestConvexHull(t *testing.T) {
	got := convexHull([]point{{1, 1}, {0, 0}, {2, 0}, {1, 0}, {2, 2}, {0, 2}, {0.5, 1.5}, {2, 1}})
	if len(got) != 4 || math.Abs(signedArea(got)) != 4 {
		t.Errorf("got %v, want the four corners of a square of side 2", got)
	}
	for _, p := range box(0, 0, 2, 2) {
		if !slices.Contains(got, p) {
			t.Errorf("got %v, want %v among them", got, p)
		}
	}
}

// TestRemoveSlash: two triangles that a slash leaves of a square hole become
// the square again, the other way round than the ring, whichever way that is.
func TestRemoveSlash(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		ring := box(0, 0, 10, 10)
		if reverse {
			slices.Reverse(ring)
		}
		halves := [][]point{{{2, 2}, {2, 7}, {7, 2}}, {{8, 3}, {3, 8}, {8, 8}}}
		got := removeSlash([][]point{halves[0], ring, halves[1]})
		if len(got) != 2 || !slices.Equal(got[0], ring) {
			t.Fatalf("reverse %v: got %v, want the ring and one hole", reverse, got)
		}
		if area := signedArea(got[1]) * math.Copysign(1, signedArea(ring)); area != -35 {
			t.Errorf("reverse %v: got hole area %g, want -35", reverse, area)
		}
	}
}

func TestDropRepeats(t *testing.T) {
	got := dropRepeats([]point{{0, 0}, {0, 0}, {1, 0}, {1, 1}, {1, 1}, {0, 0}, {0, 0}})
	if want := []point{{0, 0}, {1, 0}, {1, 1}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
