package paint_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"io"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/figure/paint"
)

var long = flag.Bool("long", false, "look at every pixel of 27 pictures")

// No two of 24 series look alike: each pair of pictures of one series among others of no
// extent differs.
func TestManySeriesLookDifferent(t *testing.T) {
	if !*long {
		t.Skip("every pixel of 27 pictures, which takes a minute with the race detector")
	}
	for _, style := range []figure.Style{figure.LinePoints, figure.Dashed} {
		seen := map[string]int{}
		for k := range 24 {
			if style == figure.Dashed && k%8 != 0 {
				continue // only series of one colour
			}
			f := figure.Figure{Panels: []figure.Panel{{YRange: [2]float64{0, 6}}}}
			for i := range k + 1 {
				s := figure.Series{Name: fmt.Sprint(i), X: []float64{}, Y: []float64{}, Style: style}
				if i == k {
					s.X, s.Y = []float64{1, 2, 3}, []float64{1, 2, 5}
				}
				f.Panels[0].Series = append(f.Panels[0].Series, s)
			}
			img := picture(t, f)
			area := image.Rect(0, 0, 980, 760) // without the legend
			var text bytes.Buffer
			for y := area.Min.Y; y < area.Max.Y; y++ {
				for x := area.Min.X; x < area.Max.X; x++ {
					c := color.GrayModel.Convert(img.RGBAAt(x, y)).(color.Gray)
					text.WriteByte(c.Y)
				}
			}
			if other, ok := seen[text.String()]; ok {
				t.Errorf("style %d: series %d looks like series %d, in grey", style, k, other)
			}
			seen[text.String()] = k
		}
	}
}

// numbered returns a figure of n series of one style.
func numbered(n int, style figure.Style) figure.Figure {
	p := figure.Panel{Categories: []string{"a"}}
	for i := range n {
		p.Series = append(p.Series, figure.Series{Name: fmt.Sprint(i), Y: []float64{1}, Style: style})
	}
	return figure.Figure{Panels: []figure.Panel{p}}
}

// A figure with more names than looks is refused: two curves would share colour and dashes.
func TestMoreNamesThanLooksAreRefused(t *testing.T) {
	for style, room := range map[figure.Style]int{figure.Line: 24, figure.LinePoints: 24, figure.Dashed: 24, figure.Points: 24, figure.Bars: 8, figure.Stars: 8} {
		f := numbered(room, style)
		if err := paint.Validate(&f); err != nil {
			t.Errorf("style %d, %d names: %v", style, room, err)
		}
		if style == figure.Points {
			continue // which differ in more marks
		}
		f = numbered(room+1, style)
		var wrong *fl.ParamError
		if err := paint.PNG(io.Discard, &f); !errors.As(err, &wrong) || wrong.Param != fmt.Sprintf("Plot.Panels[0].Series[%d].Name", room) {
			t.Errorf("style %d, %d names: %v, want a ParamError for the last name", style, room+1, err)
		}
	}
}

// There are as many looks as names, in whichever panels the names are.
func TestNamesOfAllPanelsLookDifferent(t *testing.T) {
	f := numbered(24, figure.Line)
	again := f.Panels[0]
	again.Series = append([]figure.Series{}, again.Series...)
	f.Panels = append(f.Panels, again)
	if err := paint.Validate(&f); err != nil {
		t.Errorf("the same names in two panels: %v", err)
	}
	f.Panels[1].Series[3].Name = "one more"
	if err := paint.Validate(&f); err == nil {
		t.Error("no error for 25 names in two panels")
	}
}

// A reference has the colour of what it is the reference of.
func TestReferencesHaveTheColourOfTheirSeries(t *testing.T) {
	x := []float64{1, 2, 3}
	for style, name := range map[figure.Style]string{figure.Dashed: "dashed", figure.Points: "crosses"} {
		with := func(of string) map[color.RGBA]int {
			return colours(picture(t, figure.Figure{Panels: []figure.Panel{{Series: []figure.Series{
				{Name: "theory", Of: of, X: x, Y: []float64{1, 2, 3}, Style: style}, {Name: "a", X: x, Y: []float64{2, 3, 4}}, {Name: "b", X: x, Y: []float64{3, 4, 5}},
			}}}}), image.Rect(0, 0, 980, 760))
		}
		n, alone := with("b"), with("a")
		if n[green] > 0 || n[vermillion] <= alone[vermillion] || n[blue] >= alone[blue] {
			t.Errorf("%s: %d blue, %d vermillion and %d green pixels for a reference of the second series, %d blue and %d vermillion for one of the first",
				name, n[blue], n[vermillion], n[green], alone[blue], alone[vermillion])
		}
	}
	shape := func(series ...figure.Series) []byte {
		return dots(t, figure.Panel{YRange: [2]float64{0, 5}, Series: append(series, figure.Series{Name: "a", X: x, Y: x})})
	}
	if bytes.Equal(shape(figure.Series{Name: "a", X: x[1:2], Y: x[2:], Style: figure.Points}), shape(figure.Series{Name: "a's", Of: "a", X: x[1:2], Y: x[2:], Style: figure.Points})) {
		t.Error("a reference has the mark of its series")
	}
}

func TestReferencesOfNothing(t *testing.T) {
	x := []float64{1}
	a := figure.Series{Name: "a", X: x, Y: x}
	for name, c := range map[string]struct {
		reference figure.Series
		param     string
	}{
		"unknown": {figure.Series{Name: "b", Of: "c", X: x, Y: x, Style: figure.Dashed}, "Plot.Panels[0].Series[1].Of"},
		"itself":  {figure.Series{Name: "b", Of: "b", X: x, Y: x, Style: figure.Dashed}, "Plot.Panels[0].Series[1].Of"},
		"style":   {figure.Series{Name: "b", Of: "a", X: x, Y: x, Style: figure.LinePoints}, "Plot.Panels[0].Series[1].Style"},
		"twice":   {figure.Series{Name: "a", Of: "a", X: x, Y: x, Style: figure.Dashed}, "Plot.Panels[0].Series[1].Of"},
	} {
		f := figure.Figure{Panels: []figure.Panel{{Series: []figure.Series{a, c.reference}}}}
		var wrong *fl.ParamError
		if err := paint.Validate(&f); !errors.As(err, &wrong) || wrong.Param != c.param {
			t.Errorf("%s: %v, want a ParamError for %s", name, err, c.param)
		}
	}
	two := figure.Figure{Panels: []figure.Panel{{Series: []figure.Series{
		a, {Name: "b", Of: "a", X: x, Y: x, Style: figure.Dashed}, {Name: "c", Of: "a", X: x, Y: x, Style: figure.Dashed},
	}}}}
	if err := paint.Validate(&two); err == nil {
		t.Error("no error for two references that look alike")
	}
}
