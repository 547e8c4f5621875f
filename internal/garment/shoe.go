package garment

// shoe is a closed one, seen from the side with its toe to the left.
type shoe struct {
	shaft float64 // height above the sole
	heel  float64 // height
	// laces and sole say whether they can be seen.
	laces, sole bool
}

func (s shoe) lay(m measure) []layer {
	toe, instep := m.around(.26, .05), m.around(-.05, .12)
	ground, ankle := .6, m.around(.3, .08)
	above := ground - s.shaft
	sole := ground + m.around(.1, .02)
	outline := []point{{-.95, ground - toe*.5}, {-.85, ground - toe}, {-.5, ground - toe - .04}, {instep, above + .3*s.shaft}, {ankle - .1, above + m.around(.03, .03)}, {m.around(.88, .04), above}, {.95, ground}, {-.95, ground}}
	layers := []layer{
		{corners: outline},
		{corners: []point{{-.97, ground - .02}, {.97, ground - .02}, {.97, sole + s.heel}, {.45, sole + s.heel}, {.35, sole}, {-.9, sole}}},
	}
	if s.sole {
		layers[1].fill = trim
	} else {
		layers = append(layers, layer{corners: box(-.97, ground-.02, .97, ground+.03), fill: shade, depth: .4})
	}
	if s.laces {
		for i := range 4 {
			x := instep - .3 + .13*float64(i)
			y := ground - toe - .05 - .12*float64(i)*s.shaft
			layers = append(layers, layer{corners: []point{{x, y}, {x + .06, y}, {x + .16, y + .2}, {x + .1, y + .2}}, fill: shade, depth: m.around(.1, .4)})
		}
	}
	if m.chance(.5) { // a stripe on the side
		x := m.between(-.1, .4)
		layers = append(layers, layer{corners: []point{{x, ground - .35}, {x + .15, ground - .35}, {x - .05, ground - .02}, {x - .25, ground - .02}}, fill: trim})
	}
	return layers
}

func sandal(m measure) []layer {
	if m.chance(.08) { // a closed one
		return shoe{shaft: m.around(.42, .08), heel: m.between(.1, .5)}.lay(m)
	}
	heel, thick := m.between(0, .6), m.around(.1, .03)
	if m.chance(.4) {
		heel = 0
	}
	ground := .5
	rise := func(x float64) float64 { return ground - heel*max(0, min(1, (x+.2)/.9)) } // of the sole at x
	layers := []layer{{corners: []point{{-.95, ground}, {-.2, ground}, {.7, rise(.7)}, {.95, rise(.95)}, {.95, rise(.95) + thick}, {.7, rise(.7) + thick}, {-.2, ground + thick}, {-.95, ground + thick}}}}
	if heel > .1 {
		width := m.between(.06, .5)
		layers = append(layers, layer{corners: []point{{.95 - width, rise(.95)}, {.95, rise(.95)}, {.95, ground + thick}, {.95 - width*m.between(.4, 1), ground + thick}}})
	}
	for range 2 + m.IntN(3) { // straps
		from, to := m.between(-.8, .5), m.between(-.1, .9)
		width, high := m.between(.06, .22), m.between(.2, .75)
		fill := cloth
		if m.chance(.4) {
			fill = trim
		}
		layers = append(layers, layer{fill: fill, corners: []point{{from, rise(from)}, {from + width, rise(from)}, {to + width, rise(to) - high}, {to, rise(to) - high}}})
	}
	if m.chance(.5) { // around the ankle
		high := m.between(.4, .8)
		layers = append(layers, layer{corners: []point{{.85, rise(.9)}, {.95, rise(.9)}, {.95, rise(.9) - high}, {.35, rise(.9) - high}, {.35, rise(.9) - high + .1}, {.85, rise(.9) - high + .1}}})
	}
	return layers
}
