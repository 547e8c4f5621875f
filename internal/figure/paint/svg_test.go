package paint

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"github.com/hushgrad/hushgrad/internal/figure"
)

// written is what is drawn on an SVG of 10 by 20 points, without its first and its last line.
func written(t *testing.T, draw func(c *svgCanvas)) string {
	t.Helper()
	c := newSVG(10, 20)
	draw(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(b.String(), "\n")
	if !strings.Contains(head, `width="10pt" height="20pt" viewBox="0 0 100 200"`) {
		t.Errorf("head %s", head)
	}
	return strings.TrimSuffix(rest, "</svg>\n")
}

// Lines are in tenths of a point from the top, and lines of one look are one path.
func TestLinesOfAnSVG(t *testing.T) {
	var square, line vg.Path
	square.Move(vg.Point{X: 1, Y: 18})
	square.Line(vg.Point{X: 3, Y: 18})
	square.Line(vg.Point{X: 3, Y: 16})
	square.Line(vg.Point{X: 2, Y: 15})
	square.Close()
	line.Move(vg.Point{X: 5, Y: 5})
	line.Line(vg.Point{X: 6, Y: 5})
	got := written(t, func(c *svgCanvas) {
		c.SetColor(color.RGBA{0, 0x72, 0xb2, 0xff})
		c.Fill(square)
		c.Fill(line)
		c.Push()
		c.SetLineWidth(1.5)
		c.SetLineDash([]vg.Length{4, 2}, 0)
		c.Translate(vg.Point{X: 1, Y: 1})
		c.Stroke(line)
		c.Pop()
		c.Translate(vg.Point{X: 5, Y: 5})
		c.Rotate(math.Pi / 2)
		c.Scale(2, 2)
		c.SetColor(nil)
		c.Stroke(line) // from (5, 5)·2 turned left: at (−10, 10) from (5, 5)
		c.SetLineWidth(0)
		c.Stroke(line)
	})
	const want = `<path fill="#0072b2" d="M10 20h20v20l-10 10zM50 150h10"/>
<path fill="none" stroke="#0072b2" stroke-width="15" stroke-dasharray="40 20" d="M60 140h10"/>
<path fill="none" stroke="#000" stroke-width="10" d="M-50 50v-20"/>
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A whole circle is two arcs, to the left of the way in the picture as in vg.
func TestArcsOfAnSVG(t *testing.T) {
	var circle, quarter vg.Path
	circle.Move(vg.Point{X: 7, Y: 10})
	circle.Arc(vg.Point{X: 5, Y: 10}, 2, 0, 2*math.Pi)
	circle.Close()
	quarter.Arc(vg.Point{X: 5, Y: 10}, 2, math.Pi/2, -math.Pi/2)
	got := written(t, func(c *svgCanvas) { c.Fill(circle); c.Stroke(quarter) })
	const want = `<path fill="#000" d="M70 100a20 20 0 0 0 -40 0a20 20 0 0 0 40 0z"/>
<path fill="none" stroke="#000" stroke-width="10" d="M50 80a20 20 0 0 1 14 6a20 20 0 0 1 6 14"/>
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Texts of one size are one group. They are escaped, and turned as they were drawn.
func TestTextsOfAnSVG(t *testing.T) {
	face := font.DefaultCache.Lookup(plot.New().X.Tick.Label.Font, 12)
	got := written(t, func(c *svgCanvas) {
		c.FillString(face, vg.Point{X: 1, Y: 18}, "a < b")
		c.FillString(face, vg.Point{X: 1, Y: 18}, "")
		c.Rotate(math.Pi / 2)
		c.FillString(face, vg.Point{X: 1, Y: -2}, "ε")
	})
	const want = `<g fill="#000" font-size="120">
<text x="10" y="20">a &lt; b</text>
<text x="20" y="190" transform="rotate(-90 20 190)">ε</text>
</g>
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnSVGHasNoImages(t *testing.T) {
	c := newSVG(10, 20)
	c.DrawImage(vg.Rectangle{}, image.NewRGBA(image.Rect(0, 0, 1, 1)))
	if _, err := c.WriteTo(&bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
}

// drawnSVG is the SVG of a figure.
func drawnSVG(t *testing.T, f figure.Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, &f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A narrow figure is as wide as a panel, whatever its legend, and the legend is below the last panel.
func TestNarrowFigures(t *testing.T) {
	one := figure.Series{Name: "a name that is longer than many others", X: []float64{1, 2}, Y: []float64{1, 2}}
	f := figure.Figure{Narrow: true, Columns: 2, Panels: []figure.Panel{{XLabel: "first", Series: []figure.Series{one}}, {XLabel: "second", Series: []figure.Series{one}}}}
	text := drawnSVG(t, f)
	if !strings.Contains(text, `<svg xmlns="http://www.w3.org/2000/svg" width="360pt"`) {
		t.Errorf("%.120s", text)
	}
	heights := map[string]int{}
	for _, m := range regexp.MustCompile(`<text x="\d+" y="(\d+)">([^<]*)</text>`).FindAllStringSubmatch(text, -1) {
		heights[m[2]], _ = strconv.Atoi(m[1])
	}
	if first, second, legend := heights["first"], heights["second"], heights[one.Name]; !(0 < first && first+1000 < second && second < legend) {
		t.Errorf("titles of axes at %d and %d, the legend at %d", first, second, legend)
	}
}

// An error bar that its mark hides is not drawn.
func TestShortErrorBarsAreLeftOut(t *testing.T) {
	bars := func(end float64, style figure.Style) int {
		f := figure.Figure{Panels: []figure.Panel{{YRange: [2]float64{0, 10}, Series: []figure.Series{{Name: "a", X: []float64{1}, Y: []float64{5}, YLow: []float64{5 - end}, YHigh: []float64{5 + end}, Style: style}}}}}
		return strings.Count(drawnSVG(t, f), `stroke-width="10"`)
	}
	if short, long, bare := bars(0.01, figure.LinePoints), bars(2, figure.LinePoints), bars(0.01, figure.Line); short != 0 || long != 1 || bare != 1 {
		t.Errorf("%d short error bars, %d long ones and %d without a mark", short, long, bare)
	}
}

// What is proved has no dashes, however many curves there are, and what is measured has some when the colours begin again.
func TestProvedCurvesAreSolid(t *testing.T) {
	for style, want := range map[figure.Style]bool{figure.Proved: false, figure.LinePoints: true} {
		var p figure.Panel
		for i := range len(palette) + 1 {
			p.Series = append(p.Series, figure.Series{Name: strconv.Itoa(i), X: []float64{1, 2}, Y: []float64{1, 2}, Style: style})
		}
		if dashed := strings.Contains(drawnSVG(t, figure.Figure{Panels: []figure.Panel{p}}), "dasharray"); dashed != want {
			t.Errorf("style %d: dashes %v", style, dashed)
		}
	}
}
