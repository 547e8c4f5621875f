package heldout

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/internal/glyph"
)

// cells are two random numbers of the unit square (i, j).
type cells func(i, j float64) (a, b float64)

// surfaces are the classes of textures: how light a surface is at a place, in [0, 1], where one period of its pattern is 1.
var surfaces = []func(u, v float64, random cells) float64{
	func(u, _ float64, _ cells) float64 { return wave(u) },                          // stripes
	func(u, v float64, _ cells) float64 { return .5 + 2*(wave(u)-.5)*(wave(v)-.5) }, // checks
	func(u, v float64, _ cells) float64 { // dots
		return edge(.32 - math.Hypot(fraction(u)-.5, fraction(v)-.5))
	},
	func(u, v float64, _ cells) float64 { return wave(math.Hypot(u, v)) }, // rings
	func(u, v float64, _ cells) float64 { // bricks
		row := math.Floor(v)
		across := fraction(u/2 + .5*math.Mod(math.Abs(row), 2))
		return edge(min(fraction(v), 1-fraction(v), 2*across, 2-2*across) - .15)
	},
	func(u, v float64, _ cells) float64 { return wave(u + .35*math.Sin(math.Pi*v)) }, // waves
	func(u, v float64, random cells) float64 { // blotches
		i, j := math.Floor(u), math.Floor(v)
		x, y := smooth(u-i), smooth(v-j)
		at := func(i, j float64) float64 { a, _ := random(i, j); return a }
		return (at(i, j)*(1-x)+at(i+1, j)*x)*(1-y) + (at(i, j+1)*(1-x)+at(i+1, j+1)*x)*y
	},
	func(u, v float64, random cells) float64 { // grain
		a, _ := random(math.Floor(3*u), math.Floor(3*v))
		return a
	},
	func(u, v float64, random cells) float64 { // cracks between cells
		i, j := math.Floor(u), math.Floor(v)
		first, second := math.Inf(1), math.Inf(1)
		for di := -1.; di <= 1; di++ {
			for dj := -1.; dj <= 1; dj++ {
				a, b := random(i+di, j+dj)
				if d := math.Hypot(i+di+a-u, j+dj+b-v); d < first {
					first, second = d, first
				} else {
					second = min(second, d)
				}
			}
		}
		return edge(second - first - .15)
	},
	func(u, v float64, _ cells) float64 { return wave(u + math.Abs(fraction(v/2)-.5)*2) }, // zigzags
}

func wave(t float64) float64     { return .5 + .5*math.Sin(2*math.Pi*t) }
func fraction(t float64) float64 { return t - math.Floor(t) }
func smooth(t float64) float64   { return t * t * (3 - 2*t) }

// edge is 0 well below 0 and 1 well above.
func edge(t float64) float64 { return max(0, min(1, .5+5*t)) }

// surface draws a surface of a class: its pattern turned by any angle with a period of 4 to 9 pixels, in any two greys, under light from a
// side, with noise.
func surface(dst []float64, class int, rng *rand.Rand) {
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	period, angle := between(4, 9), between(0, 2*math.Pi)
	sin, cos := math.Sincos(angle)
	u0, v0 := between(-3, 3), between(-3, 3)
	dark, contrast := between(0, .5), between(.2, .5)
	if rng.IntN(2) == 0 {
		dark, contrast = dark+contrast, -contrast
	}
	lightX, lightY, noise := between(-.2, .2), between(-.2, .2), between(.02, .12)
	seed := rng.Uint64()
	random := func(i, j float64) (a, b float64) {
		cell := rand.New(rand.NewPCG(seed, uint64(int64(i))<<32^uint64(int64(j))&math.MaxUint32))
		return cell.Float64(), cell.Float64()
	}
	for at := range dst {
		x, y := float64(at%glyph.Side)-glyph.Side/2, float64(at/glyph.Side)-glyph.Side/2
		u, v := (cos*x-sin*y)/period+u0, (sin*x+cos*y)/period+v0
		grey := dark + contrast*surfaces[class](u, v, random) + (lightX*x+lightY*y)/glyph.Side
		dst[at] = math.Round(255*max(0, min(1, grey+noise*rng.NormFloat64()))) / 255
	}
}
