package glyph

import (
	"math"
	"math/rand/v2"
)

// A Style is everything random about one picture of a character except its class and
// its pixel noise: which face, and how it is bent. The zero value with Aspect, Size and
// Gain set is a clean print.
type Style struct {
	Face   int     // index into the outlines of a character
	Weight float64 // how far the outline is pushed out, em; negative thins
	// The wave bends the strokes: x moves by WaveX·sin(PhaseX+2π·FreqX·y) and y
	// likewise by x, em.
	WaveX, FreqX, PhaseX float64
	WaveY, FreqY, PhaseY float64
	Ripples              []Ripple // elastic distortion, added to the wave
	Aspect               float64  // width is multiplied and height divided by it
	Shear                float64  // x moves by Shear·y
	Angle                float64  // rotation, radians
	Size                 float64  // longer side of the box around the ink, pixels
	DX, DY               float64  // ink centre minus picture centre, pixels
	Blur                 float64  // weight of each neighbour in the 3-tap blur, <= 1/3
	Gain                 float64  // ink is multiplied by it, then cut at 1
	Noise                float64  // relative standard deviation of the noise on ink
	Specks               int      // number of stray dots
}

// A Ripple moves each point (x, y) by (X, Y)·sin(Phase + 2π·(U·x + V·y)), in em.
type Ripple struct {
	X, Y, U, V, Phase float64
}

// RandomStyle draws a style for a digit of the Go fonts, which has faces outlines. The
// ranges were chosen by measurement to come close to MNIST: ink of 100 a picture (sum of
// its values; MNIST 102), and a test accuracy of the demo without privacy (--mechanism none,
// one pass over 60 000 pictures in 30 steps) of 0.95 (MNIST 0.88).
func RandomStyle(rng *rand.Rand, faces int) Style {
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	return Style{
		Face:   rng.IntN(faces),
		Weight: between(-0.02, 0.02),
		WaveX:  between(0, 0.06),
		FreqX:  between(0.5, 1.5),
		PhaseX: between(0, 2*math.Pi),
		WaveY:  between(0, 0.06),
		FreqY:  between(0.5, 1.5),
		PhaseY: between(0, 2*math.Pi),
		Aspect: math.Exp(between(-0.15, 0.15)),
		Shear:  between(-0.3, 0.3),
		Angle:  between(-12, 12) * math.Pi / 180,
		Size:   between(18, 21),
		DX:     between(-1, 1),
		DY:     between(-1, 1),
		Blur:   between(0, 0.15),
		Gain:   between(0.85, 1.3),
		Noise:  between(0, 0.25),
		Specks: rng.IntN(4),
	}
}

// bend returns where s moves a point of an outline: pushed out, waved, stretched,
// sheared and turned. The result is in em; its scale and place are set later.
func (s *Style) bend(v vertex) point {
	x, y := v.at.x+s.Weight*v.out.x, v.at.y+s.Weight*v.out.y
	dx, dy := s.WaveX*math.Sin(s.PhaseX+2*math.Pi*s.FreqX*y), s.WaveY*math.Sin(s.PhaseY+2*math.Pi*s.FreqY*x)
	for _, r := range s.Ripples {
		a := math.Sin(r.Phase + 2*math.Pi*(r.U*x+r.V*y))
		dx, dy = dx+r.X*a, dy+r.Y*a
	}
	x, y = x+dx, y+dy
	x, y = x*s.Aspect, y/s.Aspect
	x += s.Shear * y
	sin, cos := math.Sincos(s.Angle)
	return point{cos*x - sin*y, sin*x + cos*y}
}
