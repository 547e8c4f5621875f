package garment

import (
	"math"
	"math/rand/v2"
)

// point is in the units of a cut: x to the right and y down, the thing within about [-1, 1].
type point struct{ x, y float64 }

// layer is a polygon on the picture.
type layer struct {
	corners []point
	fill    fill
	depth   float64 // of a shade: the share of light that it takes, below 0 if it adds
}

// fill says what a layer is made of.
type fill int

const (
	cloth fill = iota // the cloth of the thing
	trim              // a second, plain cloth
	shade             // what is below, darker
)

// measure draws random lengths.
type measure struct{ *rand.Rand }

func (m measure) between(lo, hi float64) float64 { return lo + (hi-lo)*m.Float64() }
func (m measure) around(mean, sd float64) float64 {
	return mean + sd*max(-2.5, min(2.5, m.NormFloat64()))
}
func (m measure) chance(p float64) bool { return m.Float64() < p }

// cuts are the ten classes.
var cuts = [...]struct {
	name string
	lay  func(measure) []layer
}{
	{"t-shirt", func(m measure) []layer {
		return top{sleeve: m.around(.34, .1), length: m.around(.88, .08), hem: m.around(.5, .05), neck: m.around(.2, .04), buttons: m.chance(.05)}.lay(m)
	}},
	{"trousers", trousers},
	{"pullover", func(m measure) []layer {
		return top{sleeve: m.around(.98, .08), length: m.around(.88, .08), hem: m.around(.5, .05), neck: m.around(.17, .04), cuffs: m.chance(.5)}.lay(m)
	}},
	{"dress", func(m measure) []layer {
		sleeve := 0.
		if m.chance(.5) {
			sleeve = m.between(.15, 1)
		}
		return top{sleeve: sleeve, length: m.around(1.25, .12), hem: m.around(.5, .13), waist: m.around(-.1, .05), neck: m.around(.18, .05)}.lay(m)
	}},
	{"coat", func(m measure) []layer {
		return top{sleeve: m.around(1, .08), length: m.around(.98, .09), hem: m.around(.52, .06), neck: m.around(.17, .04), open: m.chance(.85), buttons: m.chance(.4)}.lay(m)
	}},
	{"sandal", sandal},
	{"shirt", func(m measure) []layer {
		sleeve := m.around(.95, .1)
		if m.chance(.3) {
			sleeve = m.around(.48, .12)
		}
		return top{sleeve: sleeve, length: m.around(.92, .08), hem: m.around(.5, .06), neck: m.around(.18, .04), open: m.chance(.1), buttons: m.chance(.7)}.lay(m)
	}},
	{"sneaker", func(m measure) []layer {
		return shoe{shaft: m.around(.5, .1), heel: m.around(.06, .02), laces: m.chance(.7), sole: m.chance(.8)}.lay(m)
	}},
	{"bag", bag},
	{"boot", func(m measure) []layer {
		return shoe{shaft: m.around(.95, .2), heel: m.around(.12, .07), laces: m.chance(.3), sole: m.chance(.4)}.lay(m)
	}},
}

// Classes is the number of classes.
const Classes = len(cuts)

// Name returns the name of a class in [0, Classes).
func Name(class int) string { return cuts[class].name }

// box is a rectangle by two corners.
func box(x0, y0, x1, y1 float64) []point { return []point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}} }

// mirrored continues the right half of an outline, from top to bottom, by its left half.
func mirrored(right []point) []point {
	out := append([]point(nil), right...)
	for i := len(right) - 1; i >= 0; i-- {
		out = append(out, point{-right[i].x, right[i].y})
	}
	return out
}

func trousers(m measure) []layer {
	waist, hip, hem := m.around(.34, .04), m.around(.42, .04), m.around(.2, .05)
	spread, crotch, length := m.around(.1, .03), m.around(-.35, .08), m.around(1, .06)
	if m.chance(.05) { // shorts
		length = m.between(.3, .6)
	}
	right := []point{{waist, -1}, {hip, crotch - .15}, {spread + 2*hem, length}, {spread, length}, {.01, crotch}}
	layers := []layer{{corners: mirrored(right)}, {corners: box(-waist, -1, waist, -1+m.between(.05, .12)), fill: shade, depth: m.between(-.1, .3)}}
	if m.chance(.4) {
		layers = append(layers, layer{corners: box(-.02, -1, .02, crotch), fill: shade, depth: .4})
	}
	return layers
}

func bag(m measure) []layer {
	width, height, taper := m.around(.9, .1), m.around(.6, .15), m.around(0, .1)
	handle, rise := m.around(.4, .15), m.around(.5, .25)
	outline := []point{{-width + taper, -height}, {width - taper, -height}, {width, height}, {-width, height}}
	layers := []layer{{corners: outline}}
	if rise > .1 {
		var arc []point
		for i := range 9 {
			sin, cos := math.Sincos(math.Pi * float64(i) / 8)
			arc = append(arc, point{handle * cos, -height - rise*sin})
		}
		for i := 8; i >= 0; i-- {
			sin, cos := math.Sincos(math.Pi * float64(i) / 8)
			arc = append(arc, point{(handle - .09) * cos, -height - (rise-.09)*sin})
		}
		layers = append(layers, layer{corners: arc, fill: trim})
	}
	if m.chance(.5) { // a flap
		layers = append(layers, layer{corners: box(-width+taper, -height, width-taper, -height+height*m.between(.4, 1)), fill: shade, depth: m.around(.1, .15)})
	}
	if m.chance(.5) { // a clasp
		y := m.between(-height, height/2)
		layers = append(layers, layer{corners: box(-.1, y, .1, y+.15), fill: trim})
	}
	return layers
}
