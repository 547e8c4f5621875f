package experiment_test

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
	"github.com/hushgrad/hushgrad/internal/experiment"
)

func TestInvalidFigures(t *testing.T) {
	three := []float64{1, 2, 3}
	with := func(p experiment.Panel, s ...experiment.Series) experiment.Figure {
		p.Series = s
		return experiment.Figure{Panels: []experiment.Panel{p}}
	}
	ab := experiment.Panel{Categories: []string{"a", "b"}}
	for name, c := range map[string]struct {
		figure experiment.Figure
		param  string
	}{
		"too many panels":      {experiment.Figure{Panels: make([]experiment.Panel, 65)}, "Plot.Panels"},
		"columns":              {experiment.Figure{Columns: 9, Panels: make([]experiment.Panel, 9)}, "Plot.Columns"},
		"negative columns":     {experiment.Figure{Columns: -1, Panels: make([]experiment.Panel, 9)}, "Plot.Columns"},
		"YRange":               {with(experiment.Panel{YRange: [2]float64{1, 0}}), "Plot.Panels[0].YRange"},
		"YRange NaN":           {with(experiment.Panel{YRange: [2]float64{math.NaN(), 1}}), "Plot.Panels[0].YRange"},
		"YRange infinite":      {with(experiment.Panel{YRange: [2]float64{0, math.Inf(1)}}), "Plot.Panels[0].YRange"},
		"YRange log":           {with(experiment.Panel{LogY: true, YRange: [2]float64{0, 1}}), "Plot.Panels[0].YRange"},
		"log categories":       {with(experiment.Panel{LogX: true, Categories: []string{"a"}}), "Plot.Panels[0].LogX"},
		"style":                {with(ab, experiment.Series{Style: 5}), "Plot.Panels[0].Series[0].Style"},
		"bars":                 {with(ab, experiment.Series{Style: experiment.Bars, Y: three}), "Plot.Panels[0].Series[0].Y"},
		"bars with X":          {with(ab, experiment.Series{Style: experiment.Bars, X: three[:2], Y: three[:2]}), "Plot.Panels[0].Series[0].Y"},
		"no X":                 {with(experiment.Panel{}, experiment.Series{Y: three}), "Plot.Panels[0].Series[0].X"},
		"no X, few categories": {with(ab, experiment.Series{Y: three}), "Plot.Panels[0].Series[0].X"},
		"short X":              {with(ab, experiment.Series{}, experiment.Series{X: three[:2], Y: three}), "Plot.Panels[0].Series[1].X"},
		"YLow alone":           {with(ab, experiment.Series{X: three, Y: three, YLow: three}), "Plot.Panels[0].Series[0].YLow and YHigh"},
		"YHigh alone":          {with(ab, experiment.Series{X: three, Y: three, YHigh: three}), "Plot.Panels[0].Series[0].YLow and YHigh"},
		"short YHigh":          {with(ab, experiment.Series{X: three, Y: three, YLow: three, YHigh: three[1:]}), "Plot.Panels[0].Series[0].YLow and YHigh"},
	} {
		var wrong *fl.ParamError
		if err := c.figure.WritePNG(io.Discard); !errors.As(err, &wrong) || wrong.Param != c.param {
			t.Errorf("%s: %v, want a ParamError for %s", name, err, c.param)
		}
	}
}

// encoded returns the bytes of the picture of one panel.
func encoded(t *testing.T, p experiment.Panel) []byte {
	t.Helper()
	var b bytes.Buffer
	f := experiment.Figure{Panels: []experiment.Panel{p}}
	if err := f.WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPointsWithoutAPlaceAreLeftOut(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	all := experiment.Series{X: []float64{1, nan, 10, 20, 0, 100}, Y: []float64{5, 1, inf, -1, 3, 7}}
	some := experiment.Series{X: []float64{1, 100}, Y: []float64{5, 7}}
	axes := experiment.Panel{LogX: true, LogY: true}
	for style := experiment.Line; style < experiment.Bars; style++ {
		all.Style, some.Style = style, style
		a, b := axes, axes
		a.Series, b.Series = []experiment.Series{all}, []experiment.Series{some}
		if !bytes.Equal(encoded(t, a), encoded(t, b)) {
			t.Errorf("style %d: points without a place change the picture", style)
		}
		a.LogX, a.LogY, b.LogX, b.LogY = false, false, false, false
		if bytes.Equal(encoded(t, a), encoded(t, b)) {
			t.Errorf("style %d: zero and negative points do not show on linear axes", style)
		}
	}
}

func TestEverySettingShows(t *testing.T) {
	base := func() experiment.Panel {
		return experiment.Panel{Series: []experiment.Series{{X: []float64{1, 2, 4}, Y: []float64{1, 3, 9}}}}
	}
	seen := map[string]string{string(encoded(t, base())): "the plain panel"}
	for name, change := range map[string]func(*experiment.Panel){
		"Title":      func(p *experiment.Panel) { p.Title = "title" },
		"XLabel":     func(p *experiment.Panel) { p.XLabel = "x" },
		"YLabel":     func(p *experiment.Panel) { p.YLabel = "y" },
		"LogX":       func(p *experiment.Panel) { p.LogX = true },
		"LogY":       func(p *experiment.Panel) { p.LogY = true },
		"YRange":     func(p *experiment.Panel) { p.YRange = [2]float64{0, 20} },
		"Points":     func(p *experiment.Panel) { p.Series[0].Style = experiment.Points },
		"LinePoints": func(p *experiment.Panel) { p.Series[0].Style = experiment.LinePoints },
		"Dashed":     func(p *experiment.Panel) { p.Series[0].Style = experiment.Dashed },
		"YLow": func(p *experiment.Panel) {
			p.Series[0].YLow, p.Series[0].YHigh = []float64{1, 2, 9}, p.Series[0].Y
		},
		"YHigh": func(p *experiment.Panel) {
			p.Series[0].YLow, p.Series[0].YHigh = p.Series[0].Y, []float64{1, 5, 9}
		},
		"Categories": func(p *experiment.Panel) { p.Categories, p.Series[0].X = []string{"a", "b", "c"}, nil },
		"Bars": func(p *experiment.Panel) {
			p.Categories, p.Series[0].X, p.Series[0].Style = []string{"a", "b", "c"}, nil, experiment.Bars
		},
		"Bars LogY": func(p *experiment.Panel) {
			p.Categories, p.Series[0].X, p.Series[0].Style, p.LogY = []string{"a", "b", "c"}, nil, experiment.Bars, true
		},
		"two Bars": func(p *experiment.Panel) {
			p.Categories, p.Series[0].X, p.Series[0].Style = []string{"a", "b", "c"}, nil, experiment.Bars
			p.Series = append(p.Series, p.Series[0])
		},
	} {
		p := base()
		change(&p)
		text := string(encoded(t, p))
		if other, ok := seen[text]; ok {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[text] = name
	}
}

// heights returns the two heights, in pixels, of the red bars of one width.
func heights(t *testing.T, p experiment.Panel) (short, tall int) {
	t.Helper()
	img := picture(t, experiment.Figure{Panels: []experiment.Panel{p}})
	widths := map[int]int{} // by height
	for x := range img.Bounds().Dx() {
		column := img.Bounds()
		column.Min.X, column.Max.X = x, x+1
		if n := colours(img, column)[red]; n > 0 {
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
	p := experiment.Panel{
		YRange: [2]float64{0, 2}, Categories: []string{"a", "b", "c"},
		Series: []experiment.Series{{Y: []float64{1, 2, nan}, Style: experiment.Bars}},
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
	p.Series = append(p.Series, experiment.Series{
		Name: "w", Y: []float64{nan, nan, 1}, YLow: []float64{0, 0, 0.5}, YHigh: []float64{9, 9, 4}, Style: experiment.Points,
	})
	if s, l := heights(t, p); abs(2*s-short) > 4 || abs(2*l-tall) > 4 {
		t.Errorf("heights %d and %d beside an error bar up to 4, want half of %d and %d", s, l, short, tall)
	}
}

func TestBarsOfACategoryAreBesideEachOther(t *testing.T) {
	img := picture(t, experiment.Figure{Panels: []experiment.Panel{{
		Categories: []string{"a"},
		Series:     []experiment.Series{{Y: []float64{1}, Style: experiment.Bars}, {Name: " ", Y: []float64{1}, Style: experiment.Bars}},
	}}})
	area := image.Rect(0, 0, 588, 456) // without the legend
	n := colours(img, area)
	if r, g := n[red], n[green]; r == 0 || math.Abs(float64(r)/float64(g)-1) > 0.02 {
		t.Errorf("%d red and %d green pixels, want as many", r, g)
	}
}

func TestLongCategoriesAreTurned(t *testing.T) {
	p := experiment.Panel{Series: []experiment.Series{{Y: []float64{1, 2, math.NaN()}, Style: experiment.Bars}}}
	tall := map[int]int{}
	for _, letters := range []int{1, 14, 15} {
		name := strings.Repeat("m", letters)
		p.Categories = []string{name, name, name}
		_, tall[letters] = heights(t, p)
	}
	// Turned by 30 degrees, 15 letters take the room of several lines.
	if abs(tall[1]-tall[14]) > 2 || tall[15] > tall[14]-40 {
		t.Errorf("bars %d, %d and %d pixels high above names of 1, 14 and 15 letters", tall[1], tall[14], tall[15])
	}
}
