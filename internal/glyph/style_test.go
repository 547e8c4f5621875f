package glyph

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
		s    Style
		want point
	}{
		{"nothing", Style{Aspect: 1}, point{2, 1}},
		{"weight", Style{Aspect: 1, Weight: 0.5}, point{1.5, 2.5}},
		{"aspect", Style{Aspect: 2}, point{4, 0.5}},
		{"shear", Style{Aspect: 1, Shear: 0.25}, point{2.25, 1}},
		{"angle", Style{Aspect: 1, Angle: math.Pi / 2}, point{-1, 2}},
		{"wave in x", Style{Aspect: 1, WaveX: 0.5, FreqX: 1, PhaseX: math.Pi / 2}, point{2.5, 1}},
		{"wave in x follows y", Style{Aspect: 1, WaveX: 0.5, FreqX: 0.25}, point{2.5, 1}},
		{"wave in y", Style{Aspect: 1, WaveY: 0.5, FreqY: 1, PhaseY: math.Pi / 2}, point{2, 1.5}},
		{"wave in y follows x", Style{Aspect: 1, WaveY: 0.5, FreqY: 0.125}, point{2, 1.5}},
		{"ripple", Style{Aspect: 1, Ripples: []Ripple{{X: 0.5, Y: -1, U: 0.125, V: 0.25, Phase: -math.Pi / 2}}}, point{2 + 0.5*math.Sin(math.Pi/2), 0}},
		{"ripples add up", Style{Aspect: 1, Ripples: []Ripple{{X: 1, Phase: math.Pi / 2}, {X: 1, Y: 1, U: 0.25, Phase: 3 * math.Pi / 2}}}, point{4, 2}},
		{"shear, then angle", Style{Aspect: 1, Shear: 1, Angle: math.Pi / 2}, point{-1, 3}},
		{"aspect, then shear", Style{Aspect: 2, Shear: 1}, point{4.5, 0.5}},
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
		of             func(s *Style) float64
		lo, hi         float64
		nearLo, nearHi bool
	}
	const tau = 2 * math.Pi
	parameters := []*parameter{
		{name: "weight", of: func(s *Style) float64 { return s.Weight }, lo: -0.02, hi: 0.02},
		{name: "waveX", of: func(s *Style) float64 { return s.WaveX }, hi: 0.06},
		{name: "waveY", of: func(s *Style) float64 { return s.WaveY }, hi: 0.06},
		{name: "freqX", of: func(s *Style) float64 { return s.FreqX }, lo: 0.5, hi: 1.5},
		{name: "freqY", of: func(s *Style) float64 { return s.FreqY }, lo: 0.5, hi: 1.5},
		{name: "phaseX", of: func(s *Style) float64 { return s.PhaseX }, hi: tau},
		{name: "phaseY", of: func(s *Style) float64 { return s.PhaseY }, hi: tau},
		{name: "log aspect", of: func(s *Style) float64 { return math.Log(s.Aspect) }, lo: -0.2, hi: 0.2},
		{name: "shear", of: func(s *Style) float64 { return s.Shear }, lo: -0.3, hi: 0.3},
		{name: "angle", of: func(s *Style) float64 { return s.Angle * 360 / tau }, lo: -12, hi: 12},
		{name: "size", of: func(s *Style) float64 { return s.Size }, lo: 18, hi: 21},
		{name: "dx", of: func(s *Style) float64 { return s.DX }, lo: -1, hi: 1},
		{name: "dy", of: func(s *Style) float64 { return s.DY }, lo: -1, hi: 1},
		{name: "blur", of: func(s *Style) float64 { return s.Blur }, hi: 0.15},
		{name: "gain", of: func(s *Style) float64 { return s.Gain }, lo: 0.85, hi: 1.3},
		{name: "noise", of: func(s *Style) float64 { return s.Noise }, hi: 0.25},
		{name: "specks", of: func(s *Style) float64 { return float64(s.Specks) }, hi: 3},
	}
	var faces [7]bool
	for range 2000 {
		s := RandomStyle(rng, len(faces))
		faces[s.Face] = true
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
