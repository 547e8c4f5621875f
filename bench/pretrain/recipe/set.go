package recipe

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"golang.org/x/image/font/sfnt"
)

// A Set is an endless supply of labelled pictures of characters. It is safe for concurrent
// use.
type Set struct {
	faces [len(Characters)][]glyph.Outline
	seed  uint64
	key   uint64
}

// Keys of sets: pictures of different sets are independent, with the same seed, too.
const (
	forTraining = iota + 1
	forHeldOut
	forComponents
	forInit
	forLetters
	forUnseen
	forCloth
	forThings
)

// Pictures are an endless supply of labelled pictures: a *Set or a Cloth.
type Pictures interface {
	// Classes is how many classes a network is trained on, and how many of them, the first ones, stay in its file.
	Classes() (trained, kept int)
	// painter returns what draws pictures of all classes, or others of those that are kept.
	painter(kept bool) painter
	// first is the generator of the first weights.
	first() *rand.Rand
}

// painter writes picture i to dst and returns its class. It draws one picture at a time.
type painter func(dst []float64, i uint64) int

// Classes implements Pictures. The classes are Characters, and the digits stay.
func (s *Set) Classes() (trained, kept int) { return len(Characters), Digits }

func (s *Set) painter(kept bool) painter {
	p, draw := NewPencil(), (*Pencil).Draw
	if kept {
		s, draw = s.with(forComponents), (*Pencil).DrawDigit
	}
	return func(dst []float64, i uint64) int { return draw(p, dst, s, i) }
}

func (s *Set) first() *rand.Rand { return experiment.Stream(s.seed, forInit) }

// Load returns the set to train on and the set of the fonts held out. Fonts come from the cache
// directory or, once, from the npm registry.
func Load(ctx context.Context, cache string, seed uint64) (train, heldOut *Set, err error) {
	train, heldOut = &Set{seed: seed, key: forTraining}, &Set{seed: seed, key: forHeldOut}
	for _, f := range Fonts {
		ttf, err := Fetch(ctx, cache, f)
		if err != nil {
			return nil, nil, err
		}
		to := train
		if f.HeldOut {
			to = heldOut
		}
		if err := to.add(ttf); err != nil {
			return nil, nil, fmt.Errorf("recipe: %s: %w", f.File, err)
		}
	}
	return train, heldOut, nil
}

// LoadUnseen returns the set of the fonts Unseen, from the cache directory or, once, from the npm registry.
func LoadUnseen(ctx context.Context, cache string, seed uint64) (*Set, error) {
	s := &Set{seed: seed, key: forUnseen}
	for _, f := range Unseen {
		ttf, err := Fetch(ctx, cache, f)
		if err == nil {
			err = s.add(ttf)
		}
		if err != nil {
			return nil, fmt.Errorf("recipe: %s: %w", f.File, err)
		}
	}
	return s, nil
}

// add adds the characters of one font.
func (s *Set) add(ttf []byte) error {
	font, err := sfnt.Parse(ttf)
	if err != nil {
		return err
	}
	for i, character := range Characters {
		o, err := glyph.Read(font, character)
		if err != nil {
			return err
		}
		s.faces[i] = append(s.faces[i], o)
	}
	return nil
}

// with returns the same fonts with other randomness.
func (s *Set) with(key uint64) *Set {
	other := *s
	other.key = key
	return &other
}

// A Pencil draws the pictures of sets, one at a time. It is not safe for concurrent use.
type Pencil struct {
	pen  *glyph.Pen
	grey [glyph.Side * glyph.Side]uint8
}

// NewPencil returns a pencil.
func NewPencil() *Pencil { return &Pencil{pen: glyph.NewPen()} }

// Draw writes picture i of the set to dst, glyph.Side² values in [0, 1], and returns its
// class, an index into Characters. The picture depends on the set and i alone.
func (p *Pencil) Draw(dst []float64, s *Set, i uint64) int {
	rng := experiment.Stream(s.seed, s.key, i)
	class := Digits + rng.IntN(len(Characters)-Digits)
	if rng.Float64() < digitShare {
		class = rng.IntN(Digits)
	}
	p.DrawClass(dst, s, class, rng)
	return class
}

// DrawDigit is Draw for digits alone.
func (p *Pencil) DrawDigit(dst []float64, s *Set, i uint64) int {
	rng := experiment.Stream(s.seed, s.key, i)
	class := rng.IntN(Digits)
	p.DrawClass(dst, s, class, rng)
	return class
}

// DrawClass writes a picture of a class, an index into Characters, with a font and in a style by chance.
func (p *Pencil) DrawClass(dst []float64, s *Set, class int, rng *rand.Rand) {
	faces := s.faces[class]
	o := faces[rng.IntN(len(faces))]
	style := handwriting(rng, o)
	p.pen.Draw(o, &style)
	p.pen.Spoil(&style, rng)
	p.pen.Develop(p.grey[:])
	for i, v := range p.grey {
		dst[i] = float64(v) / 255
	}
}

// digitShare is the share of digits among the pictures. With equal classes it would be 0.16.
const digitShare = 0.3

// handwriting draws a style for an outline of any font. Strokes become as wide as a pen's or a
// felt tip's, whatever the font has. Characters are bent relative to their size.
func handwriting(rng *rand.Rand, o glyph.Outline) glyph.Style {
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	extent := o.Extent()
	s := glyph.Style{
		WaveX:  extent * between(0, 0.08),
		FreqX:  between(0.5, 1.5) / (1.4 * extent),
		PhaseX: between(0, 2*math.Pi),
		WaveY:  extent * between(0, 0.08),
		FreqY:  between(0.5, 1.5) / (1.4 * extent),
		PhaseY: between(0, 2*math.Pi),
		Aspect: math.Exp(between(-0.25, 0.25)),
		Shear:  between(-0.45, 0.35),
		Angle:  between(-15, 15) * math.Pi / 180,
		Size:   between(17.5, 21),
		DX:     between(-1, 1),
		DY:     between(-1, 1),
		Blur:   between(0, 0.2),
		Gain:   between(0.8, 1.6),
		Noise:  between(0, 0.25),
		Specks: rng.IntN(3),
	}
	pixels := between(1.4, 4.2)
	s.Weight = (pixels/s.Size*extent - o.Stroke()) / 2
	for range 3 {
		s.Ripples = append(s.Ripples, glyph.Ripple{
			X: extent * between(-0.03, 0.03), Y: extent * between(-0.03, 0.03),
			U: between(-2.5, 2.5) / extent, V: between(-2.5, 2.5) / extent, Phase: between(0, 2*math.Pi),
		})
	}
	return s
}
