package paint

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// palette holds colours that look different to readers with any colour vision: Okabe and Ito,
// "Color Universal Design", 2008, with black and grey for their yellow. Marks and dashes
// keep apart what looks alike in grey.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // bluish green
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	color.RGBA{0x00, 0x00, 0x00, 0xff}, // black
	color.RGBA{0x8c, 0x8c, 0x8c, 0xff}, // grey
}

// marks are the marks of what is measured, filled the marks of what is proved, and cross is the mark of references.
var (
	marks  = []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}
	filled = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
	cross  = draw.CrossGlyph{}
)

// joined and references are the dashes of lines of the two kinds. When the colours begin
// again, the next pattern is taken.
var (
	joined     = [][]vg.Length{nil, {vg.Points(8), vg.Points(2), vg.Points(2), vg.Points(2)}, {vg.Points(1), vg.Points(2)}}
	references = [][]vg.Length{{vg.Points(5), vg.Points(3)}, {vg.Points(10), vg.Points(6)}, {vg.Points(2), vg.Points(4)}}
)

// look is what the series of one name have in common.
type look struct {
	color color.Color
	mark  draw.GlyphDrawer
	full  draw.GlyphDrawer // of Proved
	round int              // how often the colours began again
}

// lookAt returns the look of the i-th name.
func lookAt(i int) look {
	round := i / len(palette)
	return look{color: palette[i%len(palette)], mark: marks[(i+round)%len(marks)], full: filled[(i+2*round)%len(filled)], round: round}
}

// dashes returns the dashes of a line with this look: none where it is proved.
func (l look) dashes(style figure.Style) []vg.Length {
	if style == figure.Proved {
		return nil
	}
	if style == figure.Dashed {
		return references[l.round%len(references)]
	}
	return joined[l.round%len(joined)]
}

// seen describes what a reader recognizes a series by: a line by its colour and dashes, marks
// by their colour and shape, a bar by its colour.
func (l look) seen(style figure.Style) string {
	switch style {
	case figure.Bars:
		return fmt.Sprintf("bar %v", l.color)
	case figure.Stars:
		return fmt.Sprintf("star %v", l.color)
	case figure.Proved:
		return fmt.Sprintf("filled %v %T", l.color, l.full)
	case figure.Points:
		return fmt.Sprintf("mark %v %T", l.color, l.mark)
	}
	return fmt.Sprintf("line %v %v", l.color, l.dashes(style))
}

// looks returns the look of every name.
func (f *picture) looks() map[string]look {
	looks, of := map[string]look{}, map[string]string{}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if s.Of != "" {
				of[s.Name] = s.Of
			} else if _, ok := looks[s.Name]; !ok {
				looks[s.Name] = lookAt(len(looks))
			}
		}
	}
	references := map[string]look{}
	for name, original := range of {
		if own, ok := looks[original]; ok && original != name {
			own.mark = cross
			references[name] = own
		}
	}
	for name, own := range references {
		if _, ok := looks[name]; !ok {
			looks[name] = own
		}
	}
	return looks
}

// validateLooks checks that no two names look alike.
func (f *picture) validateLooks() error {
	looks, names := f.looks(), map[string]string{}
	for i, p := range f.Panels {
		for j, s := range p.Series {
			param := fmt.Sprintf("Plot.Panels[%d].Series[%d]", i, j)
			own, ok := looks[s.Name]
			if !ok || s.Of != "" && own.mark != cross {
				return fl.Invalid(param+".Of", s.Of, "must name another series, which is no reference, for every series of this name")
			}
			seen := own.seen(s.Style)
			if other, ok := names[seen]; ok && other != s.Name {
				return fl.Invalid(param+".Name", s.Name, "must not look like %q: there are %d colours, with %d kinds of dashes and %d marks", other, len(palette), len(joined), len(marks))
			}
			names[seen] = s.Name
		}
	}
	return nil
}
