package recipe

import (
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/garment"
	"github.com/hushgrad/hushgrad/internal/glyph"
)

// Cloth is an endless supply of pictures of clothes, shoes and bags, and of cloth alone. It is safe for concurrent use.
type Cloth struct{ Seed uint64 }

// Classes implements Pictures: the things, and behind them the kinds of cloth.
func (Cloth) Classes() (trained, kept int) { return garment.Classes + garment.Cloths, garment.Classes }

// Draw writes picture i, a thing or cloth, to dst, glyph.Side² values in [0, 1], and returns its class. b draws one picture at a time.
func (c Cloth) Draw(b *garment.Brush, dst []float64, i uint64) int {
	rng := experiment.Stream(c.Seed, forCloth, i)
	class := rng.IntN(garment.Classes)
	if rng.Float64() < clothShare {
		class = garment.Classes + rng.IntN(garment.Cloths)
	}
	c.drawClass(b, dst, class, rng)
	return class
}

// DrawThing is Draw for things alone, which are others.
func (c Cloth) DrawThing(b *garment.Brush, dst []float64, i uint64) int {
	rng := experiment.Stream(c.Seed, forThings, i)
	class := rng.IntN(garment.Classes)
	c.drawClass(b, dst, class, rng)
	return class
}

// clothShare is the share of pictures of cloth alone.
const clothShare = 0.4

func (Cloth) drawClass(b *garment.Brush, dst []float64, class int, rng *rand.Rand) {
	var grey [glyph.Side * glyph.Side]uint8
	if class < garment.Classes {
		b.Draw(grey[:], class, rng)
	} else {
		b.DrawCloth(grey[:], class-garment.Classes, rng)
	}
	for i, v := range grey {
		dst[i] = float64(v) / 255
	}
}

func (c Cloth) painter(kept bool) painter {
	b, draw := garment.NewBrush(), c.Draw
	if kept {
		draw = c.DrawThing
	}
	return func(dst []float64, i uint64) int { return draw(b, dst, i) }
}

func (c Cloth) first() *rand.Rand { return experiment.Stream(c.Seed, forCloth, forInit) }
