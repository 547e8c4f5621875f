package dataset

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBendExact: each part of a style does its one thing, at right angles and
// round numbers.
func TestBendExact(t *testing.T) {
	v := vertex{at: point{2, 1}, out: point{-1, 3}}
	for _, c := range []struct {
		name string
		s    style
		want point
	}{
		{"nothing", style{aspect: 1}, point{2, 1}},
		{"weight", style{aspect: 1, weight: 0.5}, point{1.5, 2.5}},
		{"aspect", style{aspect: 2}, point{4, 0.5}},
		{"shear", style{aspect: 1, shear: 0.25}, point{2.25, 1}},
		{"angle", style{aspect: 1, angle: math.Pi / 2}, point{-1, 2}},
		{"wave in x", style{aspect: 1, waveX: 0.5, freqX: 1, phaseX: math.Pi / 2}, point{2.5, 1}},
		{"wave in x follows y", style{aspect: 1, waveX: 0.5, freqX: 0.25}, point{2.5, 1}},
		{"wave in y", style{aspect: 1, waveY: 0.5, freqY: 1, phaseY: math.Pi / 2}, point{2, 1.5}},
		{"wave in y follows x", style{aspect: 1, waveY: 0.5, freqY: 0.125}, point{2, 1.5}},
		{"shear, then angle", style{aspect: 1, shear: 1, angle: math.Pi / 2}, point{-1, 3}},
		{"aspect, then shear", style{aspect: 2, shear: 1}, point{4.5, 0.5}},
	} {
		if got := c.s.bend(v); !near(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRandomStyleRanges: 2000 styles stay within the documented ranges and use
// both halves of each. A range is missed with probability 2^-1999, a face with
// 10·0.9^2000 < 1e-90.
func TestRandomStyleRanges(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{3}))
	type parameter struct {
		name           string
		of             func(s *style) float64
		lo, hi         float64
		nearLo, nearHi bool
	}
	const tau = 2 * math.Pi
	parameters := []*parameter{
		{name: "weight", of: func(s *style) float64 { return s.weight }, lo: -0.02, hi: 0.02},
		{name: "waveX", of: func(s *style) float64 { return s.waveX }, hi: 0.06},
		{name: "waveY", of: func(s *style) float64 { return s.waveY }, hi: 0.06},
		{name: "freqX", of: func(s *style) float64 { return s.freqX }, lo: 0.5, hi: 1.5},
		{name: "freqY", of: func(s *style) float64 { return s.freqY }, lo: 0.5, hi: 1.5},
		{name: "phaseX", of: func(s *style) float64 { return s.phaseX }, hi: tau},
		{name: "phaseY", of: func(s *style) float64 { return s.phaseY }, hi: tau},
		{name: "log aspect", of: func(s *style) float64 { return math.Log(s.aspect) }, lo: -0.2, hi: 0.2},
		{name: "shear", of: func(s *style) float64 { return s.shear }, lo: -0.3, hi: 0.3},
		{name: "angle", of: func(s *style) float64 { return s.angle * 360 / tau }, lo: -12, hi: 12},
		{name: "size", of: func(s *style) float64 { return s.size }, lo: 18, hi: 21},
		{name: "dx", of: func(s *style) float64 { return s.dx }, lo: -1, hi: 1},
		{name: "dy", of: func(s *style) float64 { return s.dy }, lo: -1, hi: 1},
		{name: "blur", of: func(s *style) float64 { return s.blur }, hi: 0.15},
		{name: "gain", of: func(s *style) float64 { return s.gain }, lo: 0.85, hi: 1.3},
		{name: "noise", of: func(s *style) float64 { return s.noise }, hi: 0.25},
		{name: "specks", of: func(s *style) float64 { return float64(s.specks) }, hi: 3},
	}
	var faces [7]bool
	for range 2000 {
		s := randomStyle(rng, len(faces))
		faces[s.face] = true
		for _, p := range parameters {
			v := p.of(&s)
			if !(v >= p.lo-1e-9 && v <= p.hi+1e-9) {
				t.Fatalf("%s: got %g, want %g to %g", p.name, v, p.lo, p.hi)
			}
			if v < (p.lo+p.hi)/2 {
				p.nearLo = true
			} else {
				p.nearHi = true
			}
		}
	}
	for _, p := range parameters {
		if !p.nearLo || !p.nearHi {
			t.Errorf("%s: got one half of its range only", p.name)
		}
	}
	for i, seen := range faces {
		if !seen {
			t.Errorf("face %d: never drawn", i)
		}
	}
}
