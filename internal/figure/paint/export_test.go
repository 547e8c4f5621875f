package paint

import (
	"image"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/hushgrad/hushgrad/internal/figure"
)

// Picture is what PNG encodes. Encoding takes most of its time.
func Picture(f *figure.Figure) (*image.RGBA, error) {
	var c drawn
	if err := (*picture)(f).write(io.Discard, func(width, height vg.Length) vg.CanvasWriterTo {
		c = drawn{pixels(width, height)}
		return c
	}); err != nil {
		return nil, err
	}
	return c.Image().(*image.RGBA), nil
}

// drawn is a canvas that is not encoded.
type drawn struct{ *vgimg.Canvas }

func (drawn) WriteTo(io.Writer) (int64, error) { return 0, nil }
