package garment

import "math"

// top is what is worn above the waist, and dresses.
type top struct {
	sleeve float64 // length, 1 for one to the hem; 0 for none
	length float64 // half of the height
	hem    float64 // half of the width below
	waist  float64 // added to half of the width in the middle
	neck   float64 // half of the width of the neckline
	open   bool    // in front, from top to bottom
	// buttons and cuffs say whether there are any.
	buttons, cuffs bool
}

func (t top) lay(m measure) []layer {
	shoulder, chest := m.around(.5, .05), m.around(.46, .04)
	slope, armhole, dip := m.around(.12, .03), m.around(.42, .05), m.between(.02, .3)
	above := -t.length
	right := []point{{0, above + dip}, {t.neck, above}, {shoulder, above + slope}}
	var layers []layer
	if t.sleeve > 0 {
		reach, width := 1.65*t.sleeve*t.length, m.around(.24, .04)
		sin, cos := math.Sincos(m.around(1.2-.35*max(0, .7-t.sleeve), .12)) // short ones stand off
		end := point{shoulder + reach*cos, above + slope + reach*sin}
		inner := point{end.x - width*sin, end.y + width*cos}
		right = append(right, end, inner)
		if t.cuffs {
			back := point{.12 * cos, .12 * sin}
			for _, side := range []float64{1, -1} {
				layers = append(layers, layer{fill: shade, depth: .2, corners: []point{
					{side * end.x, end.y}, {side * inner.x, inner.y}, {side * (inner.x - back.x), inner.y - back.y}, {side * (end.x - back.x), end.y - back.y},
				}})
			}
		}
	}
	right = append(right, point{chest, above + slope + armhole}, point{chest + t.waist, m.around(0, .1)}, point{t.hem, t.length}, point{0, t.length + m.around(0, .03)})
	layers = append([]layer{{corners: mirrored(right)}}, layers...)
	if depth := m.between(-.3, .5); m.chance(.6) { // the collar
		layers = append(layers, layer{fill: shade, depth: depth, corners: mirrored([]point{{0, above + dip + .1}, {t.neck + .07, above + .02}, {t.neck, above - .01}, {0, above + dip}})})
	}
	if t.open {
		layers = append(layers, layer{corners: box(-.035, above+dip, .035, t.length), fill: shade, depth: m.between(.4, 1)})
	}
	if t.buttons {
		for y := above + dip + .15; y < t.length-.1; y += .3 {
			layers = append(layers, layer{corners: box(-.045, y, .045, y+.09), fill: shade, depth: m.between(.3, .8)})
		}
	}
	if t.sleeve > 0 { // where sleeves are sewn on
		for _, side := range []float64{1, -1} {
			layers = append(layers, layer{fill: shade, depth: m.between(0, .4), corners: []point{
				{side * shoulder, above + slope}, {side * (shoulder - .05), above + slope}, {side * (chest - .05), above + slope + armhole}, {side * chest, above + slope + armhole},
			}})
		}
	}
	if m.chance(.3) { // a print
		w, h := m.between(.1, .3), m.between(.08, .3)
		layers = append(layers, layer{corners: box(-w, -h-.2, w, h-.2), fill: trim})
	}
	return layers
}
