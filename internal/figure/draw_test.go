package figure_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// picture draws a figure and reads it back.
func picture(t *testing.T, f figure.Figure) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := f.WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// colours counts the pixels of each colour within a rectangle.
func colours(img image.Image, in image.Rectangle) map[color.RGBA]int {
	n := map[color.RGBA]int{}
	in = in.Intersect(img.Bounds())
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			n[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	return n
}

// The first three colours that series get.
var (
	red   = color.RGBA{238, 46, 47, 255}
	green = color.RGBA{0, 140, 72, 255}
	blue  = color.RGBA{24, 90, 169, 255}
)

func lines(names ...string) (series []figure.Series) {
	for i, name := range names {
		series = append(series, figure.Series{Name: name, X: []float64{1, 2, 3}, Y: []float64{1, float64(i) + 2, 5}})
	}
	return series
}

func TestPictureSize(t *testing.T) {
	// 120 dots per inch: 576 × 432 for a panel, 12 for a margin, 42 for the title.
	for name, c := range map[string]struct {
		figure        figure.Figure
		width, height int
	}{
		"one panel":   {figure.Figure{Panels: make([]figure.Panel, 1)}, 576 + 24, 432 + 24},
		"with title":  {figure.Figure{Title: "Figure 1", Panels: make([]figure.Panel, 1)}, 576 + 24, 432 + 24 + 42},
		"square grid": {figure.Figure{Panels: make([]figure.Panel, 3)}, 2*576 + 24, 2*432 + 24},
		"one row":     {figure.Figure{Columns: 3, Panels: make([]figure.Panel, 3)}, 3*576 + 24, 432 + 24},
	} {
		size := picture(t, c.figure).Bounds().Size()
		// Lengths become whole pixels one way or the other.
		if max(abs(size.X-c.width), abs(size.Y-c.height)) > 1 {
			t.Errorf("%s: %v, want %d × %d", name, size, c.width, c.height)
		}
	}
}

func TestTitleIsDrawn(t *testing.T) {
	above := image.Rect(0, 0, 600, 42)
	for _, title := range []string{"", "Figure 1"} {
		img := picture(t, figure.Figure{Title: title, Panels: []figure.Panel{{YRange: [2]float64{0, 1}}}})
		if black := colours(img, above)[color.RGBA{A: 255}]; (title != "") != (black > 20) {
			t.Errorf("title %q: %d black pixels above the panel", title, black)
		}
	}
}

func abs(x int) int { return max(x, -x) }

func TestSeriesOfOneNameHaveOneColour(t *testing.T) {
	img := picture(t, figure.Figure{Columns: 2, Panels: []figure.Panel{
		{Series: lines("a", "b")}, {Series: lines("b", "c")},
	}})
	left, right := image.Rect(0, 0, 588, 456), image.Rect(588, 0, 1164, 456)
	legend := image.Rect(1176, 0, img.Bounds().Dx(), 456)
	for name, c := range map[string]struct {
		in                        image.Rectangle
		hasRed, hasGreen, hasBlue bool
	}{
		"first panel":  {left, true, true, false},
		"second panel": {right, false, true, true},
		"legend":       {legend, true, true, true},
	} {
		n := colours(img, c.in)
		if n[red] > 0 != c.hasRed || n[green] > 0 != c.hasGreen || n[blue] > 0 != c.hasBlue {
			t.Errorf("%s: %d red, %d green and %d blue pixels", name, n[red], n[green], n[blue])
		}
	}
	// Nothing of a series lies between the panels and beside the names.
	if n := colours(img, image.Rect(0, 0, 12, 456)); len(n) != 1 {
		t.Errorf("%d colours in the left margin, want 1", len(n))
	}
}

func TestLegendLeavesOutSeriesWithoutName(t *testing.T) {
	img := picture(t, figure.Figure{Panels: []figure.Panel{{Series: lines("")}}})
	if got := img.Bounds().Dx(); abs(got-600) > 1 {
		t.Errorf("width %d, want 600: no legend", got)
	}
}

func TestPictureOfAnyNumbers(t *testing.T) {
	strange := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64,
		1e300, -1e300, 1e-300, 1e20, 1, 0.71}
	panel := func(logX, logY bool, x, y []float64) figure.Panel {
		p := figure.Panel{LogX: logX, LogY: logY}
		for style := figure.Line; style < figure.Bars; style++ {
			p.Series = append(p.Series, figure.Series{Name: "s", X: x, Y: y, YLow: y, YHigh: x, Style: style})
		}
		return p
	}
	var cases [][]float64
	for _, v := range strange {
		cases = append(cases, []float64{v})
	}
	for _, pair := range [][2]float64{{1, math.Nextafter(1, 2)}, {1e20, 1e20 + 16384}, {-1e300, 1e300}, {1e-300, 1e300}, {0.71, 0.72}, {0, 1e-300}, {0, 1e-310}, {5e-324, 1e-322}, {-1e-320, 1e-320}} {
		cases = append(cases, pair[:])
	}
	for _, log := range []bool{false, true} {
		for _, values := range cases {
			f := figure.Figure{Panels: []figure.Panel{panel(log, log, values, values)}}
			if err := f.WritePNG(io.Discard); err != nil {
				t.Errorf("%g, logarithmic %v: %v", values, log, err)
			}
		}
		bars := figure.Series{Y: strange, YLow: strange, YHigh: strange, Style: figure.Bars}
		f := figure.Figure{Panels: []figure.Panel{{LogY: log, Categories: make([]string, len(strange)), Series: []figure.Series{bars, bars}}}}
		if err := f.WritePNG(io.Discard); err != nil {
			t.Errorf("bars, logarithmic %v: %v", log, err)
		}
	}
}

func TestPictureErrors(t *testing.T) {
	f := figure.Figure{}
	var wrong *fl.ParamError
	if err := f.WritePNG(io.Discard); !errors.As(err, &wrong) || wrong.Param != "Plot.Panels" {
		t.Errorf("no panels: %v", err)
	}
	full := errors.New("full")
	f.Panels = make([]figure.Panel, 1)
	if err := f.WritePNG(failing{full}); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
}

// failing refuses all writes.
type failing struct{ err error }

func (w failing) Write([]byte) (int, error) { return 0, w.err }
