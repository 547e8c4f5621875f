package paint_test

import (
	"bytes"
	"errors"
	"image"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/figure/paint"
)

func TestInvalidFigures(t *testing.T) {
	three := []float64{1, 2, 3}
	with := func(p figure.Panel, s ...figure.Series) figure.Figure {
		p.Series = s
		return figure.Figure{Panels: []figure.Panel{p}}
	}
	ab := figure.Panel{Categories: []string{"a", "b"}}
	for name, c := range map[string]struct {
		figure figure.Figure
		param  string
	}{
		"too many panels":      {figure.Figure{Panels: make([]figure.Panel, 65)}, "Plot.Panels"},
		"columns":              {figure.Figure{Columns: 9, Panels: make([]figure.Panel, 9)}, "Plot.Columns"},
		"negative columns":     {figure.Figure{Columns: -1, Panels: make([]figure.Panel, 9)}, "Plot.Columns"},
		"YRange":               {with(figure.Panel{YRange: [2]float64{1, 0}}), "Plot.Panels[0].YRange"},
		"YRange NaN":           {with(figure.Panel{YRange: [2]float64{math.NaN(), 1}}), "Plot.Panels[0].YRange"},
		"YRange infinite":      {with(figure.Panel{YRange: [2]float64{0, math.Inf(1)}}), "Plot.Panels[0].YRange"},
		"YRange log":           {with(figure.Panel{LogY: true, YRange: [2]float64{0, 1}}), "Plot.Panels[0].YRange"},
		"log categories":       {with(figure.Panel{LogX: true, Categories: []string{"a"}}), "Plot.Panels[0].LogX"},
		"style":                {with(ab, figure.Series{Style: 7}), "Plot.Panels[0].Series[0].Style"},
		"bars":                 {with(ab, figure.Series{Style: figure.Bars, Y: three}), "Plot.Panels[0].Series[0].Y"},
		"bars with X":          {with(ab, figure.Series{Style: figure.Bars, X: three[:2], Y: three[:2]}), "Plot.Panels[0].Series[0].Y"},
		"bars LogY":            {with(figure.Panel{LogY: true, Categories: ab.Categories}, figure.Series{Style: figure.Bars, Y: three[:2]}), "Plot.Panels[0].Series[0].Style"},
		"no X":                 {with(figure.Panel{}, figure.Series{Y: three}), "Plot.Panels[0].Series[0].X"},
		"no X, few categories": {with(ab, figure.Series{Y: three}), "Plot.Panels[0].Series[0].X"},
		"short X":              {with(ab, figure.Series{}, figure.Series{X: three[:2], Y: three}), "Plot.Panels[0].Series[1].X"},
		"YLow alone":           {with(ab, figure.Series{X: three, Y: three, YLow: three}), "Plot.Panels[0].Series[0].YLow and YHigh"},
		"YHigh alone":          {with(ab, figure.Series{X: three, Y: three, YHigh: three}), "Plot.Panels[0].Series[0].YLow and YHigh"},
		"short YHigh":          {with(ab, figure.Series{X: three, Y: three, YLow: three, YHigh: three[1:]}), "Plot.Panels[0].Series[0].YLow and YHigh"},
	} {
		var wrong *fl.ParamError
		if err := paint.PNG(io.Discard, &c.figure); !errors.As(err, &wrong) || wrong.Param != c.param {
			t.Errorf("%s: %v, want a ParamError for %s", name, err, c.param)
		}
	}
}

// encoded returns the bytes of the picture of one panel.
// dots are the pixels of a picture of one panel.
func dots(t *testing.T, p figure.Panel) []byte {
	t.Helper()
	return picture(t, figure.Figure{Panels: []figure.Panel{p}}).Pix
}

func TestPointsWithoutAPlaceAreLeftOut(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	all := figure.Series{X: []float64{1, nan, 10, 20, 0, 100}, Y: []float64{5, 1, inf, -1, 3, 7}}
	some := figure.Series{X: []float64{1, 100}, Y: []float64{5, 7}}
	axes := figure.Panel{LogX: true, LogY: true}
	for style := figure.Line; style < figure.Bars; style++ {
		all.Style, some.Style = style, style
		a, b := axes, axes
		a.Series, b.Series = []figure.Series{all}, []figure.Series{some}
		if !bytes.Equal(dots(t, a), dots(t, b)) {
			t.Errorf("style %d: points without a place change the picture", style)
		}
		a.LogX, a.LogY, b.LogX, b.LogY = false, false, false, false
		if bytes.Equal(dots(t, a), dots(t, b)) {
			t.Errorf("style %d: zero and negative points do not show on linear axes", style)
		}
	}
}

func TestEverySettingShows(t *testing.T) {
	base := func() figure.Panel {
		return figure.Panel{Series: []figure.Series{{X: []float64{1, 2, 4}, Y: []float64{1, 3, 9}}}}
	}
	seen := map[string]string{string(dots(t, base())): "the plain panel"}
	for name, change := range map[string]func(*figure.Panel){
		"Title":      func(p *figure.Panel) { p.Title = "title" },
		"XLabel":     func(p *figure.Panel) { p.XLabel = "x" },
		"YLabel":     func(p *figure.Panel) { p.YLabel = "y" },
		"LogX":       func(p *figure.Panel) { p.LogX = true },
		"LogY":       func(p *figure.Panel) { p.LogY = true },
		"YRange":     func(p *figure.Panel) { p.YRange = [2]float64{0, 20} },
		"Points":     func(p *figure.Panel) { p.Series[0].Style = figure.Points },
		"LinePoints": func(p *figure.Panel) { p.Series[0].Style = figure.LinePoints },
		"Proved":     func(p *figure.Panel) { p.Series[0].Style = figure.Proved },
		"Stars":      func(p *figure.Panel) { p.Series[0].Style = figure.Stars },
		"Dashed":     func(p *figure.Panel) { p.Series[0].Style = figure.Dashed },
		"YLow": func(p *figure.Panel) {
			p.Series[0].YLow, p.Series[0].YHigh = []float64{1, 2, 9}, p.Series[0].Y
		},
		"YHigh": func(p *figure.Panel) {
			p.Series[0].YLow, p.Series[0].YHigh = p.Series[0].Y, []float64{1, 5, 9}
		},
		"Categories": func(p *figure.Panel) { p.Categories, p.Series[0].X = []string{"a", "b", "c"}, nil },
		"Bars": func(p *figure.Panel) {
			p.Categories, p.Series[0].X, p.Series[0].Style = []string{"a", "b", "c"}, nil, figure.Bars
		},
		"Points beside each other": func(p *figure.Panel) {
			p.Categories, p.Series[0].X, p.Series[0].Style = []string{"a", "b", "c"}, nil, figure.Points
			p.Series = append(p.Series, p.Series[0])
		},
		"two Bars": func(p *figure.Panel) {
			p.Categories, p.Series[0].X, p.Series[0].Style = []string{"a", "b", "c"}, nil, figure.Bars
			p.Series = append(p.Series, p.Series[0])
		},
	} {
		p := base()
		change(&p)
		text := string(dots(t, p))
		if other, ok := seen[text]; ok {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[text] = name
	}
}

// heights returns the two heights, in pixels, of the blue bars of one width.
func heights(t *testing.T, p figure.Panel) (short, tall int) {
	t.Helper()
	img := picture(t, figure.Figure{Panels: []figure.Panel{p}})
	widths := map[int]int{} // by height
	for x := range img.Bounds().Dx() {
		column := img.Bounds()
		column.Min.X, column.Max.X = x, x+1
		if n := colours(img, column)[blue]; n > 0 {
			widths[n]++
		}
	}
	h := slices.Sorted(maps.Keys(widths))
	if len(h) != 2 || abs(widths[h[0]]-widths[h[1]]) > 1 {
		t.Fatalf("widths of bars by height: %v, want two of one width", widths)
	}
	return h[0], h[1]
}

func TestBarsHaveTheirHeights(t *testing.T) {
	nan := math.NaN()
	p := figure.Panel{
		YRange: [2]float64{0, 2}, Categories: []string{"a", "b", "c"},
		Series: []figure.Series{{Y: []float64{1, 2, nan}, Style: figure.Bars}},
	}
	short, tall := heights(t, p)
	if abs(tall-2*short) > 2 {
		t.Errorf("heights %d and %d, want 1:2", short, tall)
	}
	p.YRange = [2]float64{}
	if s, l := heights(t, p); s != short || l != tall {
		t.Errorf("heights %d and %d with limits from the data, want %d and %d as from 0 to 2", s, l, short, tall)
	}
	// An error bar up to 4 halves them.
	p.Series = append(p.Series, figure.Series{
		Name: "w", Y: []float64{nan, nan, 1}, YLow: []float64{0, 0, 0.5}, YHigh: []float64{9, 9, 4}, Style: figure.Points,
	})
	if s, l := heights(t, p); abs(2*s-short) > 4 || abs(2*l-tall) > 4 {
		t.Errorf("heights %d and %d beside an error bar up to 4, want half of %d and %d", s, l, short, tall)
	}
}

func TestBarsOfACategoryAreBesideEachOther(t *testing.T) {
	img := picture(t, figure.Figure{Panels: []figure.Panel{{
		Categories: []string{"a"},
		Series:     []figure.Series{{Y: []float64{1}, Style: figure.Bars}, {Name: " ", Y: []float64{1}, Style: figure.Bars}},
	}}})
	area := image.Rect(0, 0, 980, 760) // without the legend
	n := colours(img, area)
	if b, v := n[blue], n[vermillion]; b == 0 || math.Abs(float64(b)/float64(v)-1) > 0.02 {
		t.Errorf("%d blue and %d vermillion pixels, want as many", b, v)
	}
}

func TestLongCategoriesAreTurned(t *testing.T) {
	p := figure.Panel{Series: []figure.Series{{Y: []float64{1, 2, math.NaN()}, Style: figure.Bars}}}
	tall := map[int]int{}
	for _, letters := range []int{1, 12, 13} {
		name := strings.Repeat("m", letters)
		p.Categories = []string{name, name, name}
		_, tall[letters] = heights(t, p)
	}
	p.Categories = []string{strings.Repeat("mmmm ", 3), "m", "m"}
	_, lines := heights(t, p)
	p.Categories[0] = strings.Repeat("m", 14)
	if _, word := heights(t, p); lines < word+20 || lines > tall[1]-20 {
		t.Errorf("bars %d pixels high above several words and %d above a long one, want the words in two lines", lines, word)
	}
	// Turned by 30 degrees, 13 letters take the room of several lines.
	if abs(tall[1]-tall[12]) > 4 || tall[13] > tall[12]-66 {
		t.Errorf("bars %d, %d and %d pixels high above names of 1, 12 and 13 letters", tall[1], tall[12], tall[13])
	}
}
