package paint_test

import (
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure"
)

// extent returns the smallest rectangle that holds all pixels of a colour, or for black all
// dark ones: letters that are turned have no black pixels.
func extent(img *image.RGBA, in image.Rectangle, of color.RGBA) (found image.Rectangle) {
	in = in.Intersect(img.Bounds())
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			c := img.RGBAAt(x, y)
			if c == of || of == black && max(c.R, c.G, c.B) < 120 {
				found = found.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return found
}

var (
	black   = color.RGBA{A: 255}
	anyArea = image.Rect(0, 0, 1<<20, 1<<20)
)

// A long axis title takes no room from the axis, whatever its scale.
func TestAxisTitlesLeaveTheAxisItsLength(t *testing.T) {
	for _, log := range []bool{false, true} {
		var tall [2]int
		for i, label := range []string{"y", "a title of the axis with many letters"} {
			img := picture(t, figure.Figure{Panels: []figure.Panel{{YLabel: label, LogY: log, Series: []figure.Series{
				{X: []float64{1, 2}, Y: []float64{0.001, 100}},
			}}}})
			tall[i] = extent(img, anyArea, blue).Dy()
		}
		if abs(tall[0]-tall[1]) > 4 || tall[0] < 550 {
			t.Errorf("logarithmic %v: a line %d pixels high beside a short title and %d beside a long one", log, tall[0], tall[1])
		}
	}
}

// Titles that are longer than the picture, or the axis, are broken into lines.
func TestLongTitlesAreInThePicture(t *testing.T) {
	const margin = 10
	long := strings.Repeat("a long title ", 9)
	for name, c := range map[string]struct {
		figure figure.Figure
		side   func(in image.Rectangle) int // how far from the edge the text must stay
	}{
		"figure": {figure.Figure{Title: long, Panels: []figure.Panel{{}}}, func(in image.Rectangle) int { return min(in.Min.X, 1000-in.Max.X) }},
		"panel":  {figure.Figure{Panels: []figure.Panel{{Title: long}}}, func(in image.Rectangle) int { return min(in.Min.X, 1000-in.Max.X) }},
		"x":      {figure.Figure{Panels: []figure.Panel{{XLabel: long}}}, func(in image.Rectangle) int { return min(in.Min.X, 1000-in.Max.X) }},
		"y":      {figure.Figure{Panels: []figure.Panel{{YLabel: long}}}, func(in image.Rectangle) int { return min(in.Min.Y, 760-in.Max.Y) }},
	} {
		if text := extent(picture(t, c.figure), anyArea, black); c.side(text) < margin {
			t.Errorf("%s: the text fills %v", name, text)
		}
	}
	one := picture(t, figure.Figure{Title: "short", Panels: []figure.Panel{{}}}).Bounds().Dy()
	if two := picture(t, figure.Figure{Title: long, Panels: []figure.Panel{{}}}).Bounds().Dy(); two < one+30 {
		t.Errorf("%d pixels high with a long title, %d with a short one: no room for its lines", two, one)
	}
}

// On a logarithmic axis an interval that holds zero goes on to the axis.
func TestIntervalsThatHoldZeroReachTheAxis(t *testing.T) {
	low := func(end float64) image.Rectangle {
		return extent(picture(t, figure.Figure{Panels: []figure.Panel{{LogY: true, YRange: [2]float64{0.01, 100}, Series: []figure.Series{
			{X: []float64{1}, Y: []float64{1}, YLow: []float64{end}, YHigh: []float64{10}, Style: figure.Points},
		}}}}), anyArea, blue)
	}
	some, all := low(0.1), low(-1)
	if some.Min.Y != all.Min.Y || abs(all.Dy()-3*some.Dy()/2) > 8 {
		t.Errorf("an interval from 0.1 to 10 is %d pixels high, one from -1 to 10 %d on an axis from 0.01 on", some.Dy(), all.Dy())
	}
}

// A low end near zero does not stretch a logarithmic axis over many powers of ten.
func TestIntervalsDoNotStretchLogarithmicAxes(t *testing.T) {
	tall := func(end float64) int {
		img := picture(t, figure.Figure{Panels: []figure.Panel{{LogY: true, Series: []figure.Series{
			{X: []float64{1, 2}, Y: []float64{1, 10}, YLow: []float64{end, 9}, YHigh: []float64{2, 10}},
			{Name: " ", X: []float64{1, 2}, Y: []float64{1, 10}},
		}}}})
		return extent(img, image.Rect(0, 0, 980, 760), vermillion).Dy()
	}
	if near, far := tall(0.1), tall(1e-9); far != near {
		t.Errorf("the line is %d pixels high, and %d beside an interval that almost reaches zero", near, far)
	}
}

// Marks of a category stand beside each other like bars, and those with places of their own
// where these say.
func TestMarksOfACategoryAreBesideEachOther(t *testing.T) {
	at := func(x []float64) (left, right image.Rectangle) {
		img := picture(t, figure.Figure{Panels: []figure.Panel{{
			Categories: []string{"a"},
			Series:     []figure.Series{{X: x, Y: []float64{1}, Style: figure.Points}, {Name: " ", X: x, Y: []float64{2}, Style: figure.Points}},
		}}})
		in := image.Rect(0, 0, 980, 760)
		return extent(img, in, blue), extent(img, in, vermillion)
	}
	if left, right := at(nil); left.Max.X+100 > right.Min.X {
		t.Errorf("marks at %v and %v, want them beside each other", left, right)
	}
	if left, right := at([]float64{0}); abs(left.Min.X-right.Min.X) > 4 {
		t.Errorf("marks at %v and %v, want them above each other", left, right)
	}
}

// Names begin at the same height, in however many lines they are.
func TestNamesOfCategoriesBeginTogether(t *testing.T) {
	img := picture(t, figure.Figure{Panels: []figure.Panel{{
		Categories: []string{"a", strings.Repeat("mmmm ", 4), "mmmm"}, Series: []figure.Series{{Y: []float64{1, 2, 3}, Style: figure.Bars}},
	}}})
	two, one := extent(img, image.Rect(380, 400, 640, 760), black), extent(img, image.Rect(690, 400, 1000, 760), black)
	if two.Dy() < one.Dy()+20 || abs(two.Min.Y-one.Min.Y) > 2 {
		t.Errorf("two lines fill %v, one line %v", two, one)
	}
}

// What the error bars show is in the legend.
func TestLegendExplainsErrorBars(t *testing.T) {
	f := figure.Figure{Panels: []figure.Panel{{Series: lines("")}}}
	without := picture(t, f).Bounds().Dx()
	f.ErrorBars = "95 % interval"
	img := picture(t, f)
	if text := extent(img, image.Rect(without, 0, 1<<20, 760), black); text.Dx() < 100 {
		t.Errorf("the entry fills %v", text)
	}
}

// Names of categories are whole: broken into lines, or turned with room to the left.
func TestNamesOfCategoriesAreInThePicture(t *testing.T) {
	for _, names := range [][]string{
		{"replace-one, with the composition of the paper", "b", "c", "d", "e"},
		{strings.Repeat("wide", 12), "b", "c", "d", "e"},
	} {
		p := figure.Panel{Categories: names, Series: []figure.Series{{Y: []float64{1, 2, 3, 4, 5}, Style: figure.Bars}}}
		if text := extent(picture(t, figure.Figure{Panels: []figure.Panel{p}}), anyArea, black); text.Min.X < 10 {
			t.Errorf("%q: the text fills %v", names[0], text)
		}
	}
}
