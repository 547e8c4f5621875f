package garment

import "math"

// weave is a texture: the grey value at a pixel.
type weave func(x, y float64) float64

// The kinds of cloth.
const (
	plain = iota
	gradient
	stripes
	checks
	knit
	mottled
	dots

	// Cloths is the number of kinds of cloth.
	Cloths = iota
)

// habits are how often each class takes which kind of cloth, in the order of the kinds.
var habits = [Classes][Cloths]float64{
	{9, 2, 2, 1, .5, 3, 1},
	{9, 3, .7, .3, 1, 3, .2},
	{7, 2, 1.5, .5, 3, 3, .3},
	{7, 2, 1, .7, .5, 3, 1.5},
	{9, 2, .3, .7, 1.5, 3, .2},
	{9, 2, .5, .3, .5, 1, .2},
	{6, 2, 2, 3, .5, 2, .7},
	{8, 2, 1, .7, .7, 2, .3},
	{7, 3, .7, .7, 1, 3, .5},
	{9, 3, .4, .3, 1, 3, .2},
}

// weave draws the cloth of a thing of that class.
func (m measure) weave(class int) weave {
	tone, contrast := m.between(.25, 1), m.between(.1, .45)
	kind := m.habit(class)
	angle := m.around(0, .06) // cloth is cut along its threads
	if m.chance(.5) {
		angle += math.Pi / 2
	}
	if m.chance(.15) {
		angle = m.between(0, math.Pi)
	}
	return m.woven(kind, tone, contrast, angle)
}

// habit draws the kind of cloth of a thing of that class.
func (m measure) habit(class int) int {
	kind, total := plain, 0.
	for _, w := range habits[class] {
		total += w
	}
	for at := m.Float64() * total; kind < Cloths-1; kind++ {
		if at -= habits[class][kind]; at < 0 {
			break
		}
	}
	return kind
}

// woven draws cloth of a kind, with its threads at an angle.
func (m measure) woven(kind int, tone, contrast, angle float64) weave {
	sin, cos := math.Sincos(angle)
	period, phase := m.between(2.2, 8), m.between(0, 2*math.Pi)
	wave := func(at, period float64) float64 { return math.Sin(phase + 2*math.Pi*at/period) }
	folds := m.folds()
	field := m.field(m.between(1.5, 4))
	pattern := map[int]weave{
		plain:    func(x, y float64) float64 { return 0 },
		gradient: func(x, y float64) float64 { return (cos*(x-Side/2) + sin*(y-Side/2)) / (Side / 2) },
		stripes:  func(x, y float64) float64 { return math.Tanh(2 * wave(cos*x+sin*y, period)) },
		checks: func(x, y float64) float64 {
			return .5 * (math.Tanh(2*wave(cos*x+sin*y, period)) + math.Tanh(2*wave(cos*y-sin*x, period)))
		},
		knit: func(x, y float64) float64 {
			return wave(x, 2.5+period/8) * math.Sin(2*math.Pi*(y+math.Abs(math.Mod(x, 3)-1.5))/(2.5+period/4))
		},
		mottled: field,
		dots: func(x, y float64) float64 {
			return 2 * max(0, wave(cos*x+sin*y, period)*wave(cos*y-sin*x, period))
		},
	}[kind]
	return func(x, y float64) float64 { return tone + contrast*pattern(x, y) + folds(x, y) }
}

// folds are slow changes of the light.
func (m measure) folds() weave {
	depth, period, phase := m.between(0, .15), m.between(7, 25), m.between(0, 2*math.Pi)
	sin, cos := math.Sincos(m.around(0, .5)) // they hang
	return func(x, y float64) float64 { return depth * math.Sin(phase+2*math.Pi*(cos*x+sin*y)/period) }
}

// field is smooth noise: random values on a grid of that width, and the lines between them.
func (m measure) field(width float64) weave {
	const most = 24 // values along a side, more than Side/1.5 + 2
	var values [most * most]float64
	for i := range values {
		values[i] = m.NormFloat64()
	}
	return func(x, y float64) float64 {
		u, v := max(0, x/width), max(0, y/width)
		c, r := min(most-2, int(u)), min(most-2, int(v))
		u, v = u-float64(c), v-float64(r)
		at := r*most + c
		return (1-v)*((1-u)*values[at]+u*values[at+1]) + v*((1-u)*values[at+most]+u*values[at+most+1])
	}
}
