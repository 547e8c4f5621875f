package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/hushgrad/hushgrad/internal/glyph"
)

// LetterClasses is the number of classes of letters in which a capital and a small letter are one class.
const LetterClasses = 26

const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// letters is the law of characters of the Go fonts in any number of classes. Up to 26 are the first letters, each of either case
// by chance. With more, a class is one of glyph.Alphabet, and beyond its end one of them turned by one, two or three quarters: some of
// these look alike.
func letters(classes int) (law, error) {
	small := []rune(strings.ToLower(capitals[:min(classes, LetterClasses)]))
	large := []rune(capitals[:len(small)])
	if classes > LetterClasses {
		var err error
		if large, err = glyph.Alphabet(classes); err != nil {
			return law{}, fmt.Errorf("fonts: %w", err)
		}
		small = large
	}
	lower, err := glyph.Characters(small)
	if err != nil {
		return law{}, fmt.Errorf("fonts: %w", err)
	}
	upper, err := glyph.Characters(large)
	if err != nil {
		return law{}, fmt.Errorf("fonts: %w", err)
	}
	return law{"letter/1", classes, func() painter {
		p := glyph.NewPen()
		return func(dst []uint8, rng *rand.Rand) int {
			class := rng.IntN(classes)
			of := lower
			if rng.IntN(2) == 0 {
				of = upper
			}
			outlines := of[class%len(of)]
			s := glyph.RandomStyle(rng, len(outlines))
			s.Angle += float64(class/len(of)) * math.Pi / 2
			p.Draw(outlines[s.Face], &s)
			p.Spoil(&s, rng)
			p.Develop(dst)
			return class
		}
	}}, nil
}
