package dataset

import (
	"math"
	"math/rand/v2"
)

// A style is everything random about one generated digit except its class and
// its pixel noise: which face, and how it is bent. The ranges were chosen by
// measurement to come close to MNIST: ink of 100 a picture (sum of its values;
// MNIST 102), and a test accuracy of the demo without privacy (-mechanism none,
// one pass over 60 000 pictures in 30 steps) of 0.95 (MNIST 0.88).
type style struct {
	face   int     // index into the outlines of a digit
	weight float64 // how far the outline is pushed out, em; negative thins
	// wave bends the strokes: x moves by waveX·sin(phaseX+2π·freqX·y) and y
	// likewise by x, em.
	waveX, freqX, phaseX float64
	waveY, freqY, phaseY float64
	aspect               float64 // width is multiplied and height divided by it
	shear                float64 // x moves by shear·y
	angle                float64 // rotation, radians
	size                 float64 // longer side of the box around the ink, pixels
	dx, dy               float64 // ink centre minus picture centre, pixels
	blur                 float64 // weight of each neighbour in the 3-tap blur, <= 1/3
	gain                 float64 // ink is multiplied by it, then cut at 1
	noise                float64 // relative standard deviation of the noise on ink
	specks               int     // number of stray dots
}

// randomStyle draws a style for a digit that has faces outlines.
func randomStyle(rng *rand.Rand, faces int) style {
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	return style{
		face:   rng.IntN(faces),
		weight: between(-0.02, 0.02),
		waveX:  between(0, 0.06),
		freqX:  between(0.5, 1.5),
		phaseX: between(0, 2*math.Pi),
		waveY:  between(0, 0.06),
		freqY:  between(0.5, 1.5),
		phaseY: between(0, 2*math.Pi),
		aspect: math.Exp(between(-0.15, 0.15)),
		shear:  between(-0.3, 0.3),
		angle:  between(-12, 12) * math.Pi / 180,
		size:   between(18, 21),
		dx:     between(-1, 1),
		dy:     between(-1, 1),
		blur:   between(0, 0.15),
		gain:   between(0.85, 1.3),
		noise:  between(0, 0.25),
		specks: rng.IntN(4),
	}
}

// bend returns where s moves a point of an outline: pushed out, waved, stretched,
// sheared and turned. The result is in em; its scale and place are set later.
func (s *style) bend(v vertex) point {
	x, y := v.at.x+s.weight*v.out.x, v.at.y+s.weight*v.out.y
	x, y = x+s.waveX*math.Sin(s.phaseX+2*math.Pi*s.freqX*y), y+s.waveY*math.Sin(s.phaseY+2*math.Pi*s.freqY*x)
	x, y = x*s.aspect, y/s.aspect
	x += s.shear * y
	sin, cos := math.Sincos(s.angle)
	return point{cos*x - sin*y, sin*x + cos*y}
}
