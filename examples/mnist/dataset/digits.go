package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// side is the height and width of a generated picture, as in MNIST.
const side = glyph.Side

// Generate draws o.TrainSize and o.TestSize digits of 28×28 pixels (0: 60 000
// and 10 000) from the outlines of the Go fonts, bent at random and centred by
// mass like MNIST. Each class is as likely as any other.
//
// Each picture has a random stream of its own, ChaCha8 keyed with the seed, the
// split and its index. So the result depends on o.Seed only, not on the number
// of processors; a smaller set is the start of a larger one; and train and test
// are independent. Another processor architecture may round otherwise and
// change a grey value by one step of 1/255.
//
// O(pixels); about 25 µs for a picture on one core, on all cores at once.
// It returns an error when o is out of range or names another source, and when ctx
// ends (wrapping ctx.Err()).
func Generate(ctx context.Context, o Options) (_ *Data, err error) {
	defer prefix.Error(&err, "dataset")
	if o.Source != Generated {
		return nil, fl.Invalid("source", o.Source, "must be empty for generated digits")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return generate(ctx, o)
}

func generate(ctx context.Context, o Options) (*Data, error) {
	outlines, err := glyph.Digits()
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	o.logf("drawing digits from the Go fonts")
	return drawBoth(ctx, o, digits(outlines[:]), fmt.Sprintf("digits drawn from the Go fonts with seed %d: accuracy on them is not comparable with MNIST", o.Seed))
}

// digits is the law of generated digits, or of the first ones.
func digits(outlines [][]glyph.Outline) law {
	return law{"digits/1", len(outlines), func() painter {
		p := glyph.NewPen()
		return func(dst []uint8, rng *rand.Rand) int {
			digit := rng.IntN(len(outlines))
			s := glyph.RandomStyle(rng, len(outlines[digit]))
			p.Draw(outlines[digit][s.Face], &s)
			p.Spoil(&s, rng)
			p.Develop(dst)
			return digit
		}
	}}
}
