package paint_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/figure/paint"
)

// picture draws a figure.
func picture(t *testing.T, f figure.Figure) *image.RGBA {
	t.Helper()
	img, err := paint.Picture(&f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// readBack draws a figure as a PNG, which it reads.
func readBack(t *testing.T, f figure.Figure) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := paint.PNG(&b, &f); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// What the other tests look at is what a reader of the PNG sees.
func TestThePNGIsThePicture(t *testing.T) {
	f := figure.Figure{Title: "Figure 1", Panels: []figure.Panel{{Series: lines("a", "b")}}}
	drawn, read := picture(t, f), readBack(t, f)
	if read.Bounds() != drawn.Bounds() {
		t.Fatalf("the PNG has %v, the picture %v", read.Bounds(), drawn.Bounds())
	}
	for y := range drawn.Bounds().Dy() {
		for x := range drawn.Bounds().Dx() {
			if got, want := color.RGBAModel.Convert(read.At(x, y)), drawn.RGBAAt(x, y); got != want {
				t.Fatalf("pixel %d, %d: %v in the PNG, %v in the picture", x, y, got, want)
			}
		}
	}
}

// An SVG is white behind everything, its title and its legend too: a page may be dark.
func TestAnSVGHasABackground(t *testing.T) {
	f := figure.Figure{Title: "Figure 1", Panels: []figure.Panel{{Series: lines("a", "b")}}}
	var b bytes.Buffer
	if err := paint.SVG(&b, &f); err != nil {
		t.Fatal(err)
	}
	size := regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`).FindSubmatch(b.Bytes())
	first := regexp.MustCompile(`(?s)<(?:path|text)[^>]*>`).Find(b.Bytes())
	if want := fmt.Sprintf("<path fill=\"#fff\" d=\"M0 %[2]sh%[1]sv-%[2]sh-%[1]sz\"/>", size[1], size[2]); string(first) != want {
		t.Errorf("first of all %s, want %s", first, want)
	}
}

// colours counts the pixels of each colour within a rectangle.
func colours(img *image.RGBA, in image.Rectangle) map[color.RGBA]int {
	n := map[color.RGBA]int{}
	in = in.Intersect(img.Bounds())
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			n[img.RGBAAt(x, y)]++
		}
	}
	return n
}

// The first three colours that series get.
var (
	blue       = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	vermillion = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green      = color.RGBA{0x00, 0x9e, 0x73, 0xff}
)

func lines(names ...string) (series []figure.Series) {
	for i, name := range names {
		series = append(series, figure.Series{Name: name, X: []float64{1, 2, 3}, Y: []float64{1, float64(i) + 2, 5}})
	}
	return series
}

func TestPictureSize(t *testing.T) {
	// 200 dots per inch: 960 × 720 for a panel, 20 for a margin, 70 for the title.
	for name, c := range map[string]struct {
		figure        figure.Figure
		width, height int
	}{
		"one panel":   {figure.Figure{Panels: make([]figure.Panel, 1)}, 960 + 40, 720 + 40},
		"with title":  {figure.Figure{Title: "Figure 1", Panels: make([]figure.Panel, 1)}, 960 + 40, 720 + 40 + 70},
		"square grid": {figure.Figure{Panels: make([]figure.Panel, 3)}, 2*960 + 40, 2*720 + 40},
		"one row":     {figure.Figure{Columns: 3, Panels: make([]figure.Panel, 3)}, 3*960 + 40, 720 + 40},
	} {
		size := readBack(t, c.figure).Bounds().Size()
		// Lengths become whole pixels one way or the other.
		if max(abs(size.X-c.width), abs(size.Y-c.height)) > 1 {
			t.Errorf("%s: %v, want %d × %d", name, size, c.width, c.height)
		}
	}
}

func TestTitleIsDrawn(t *testing.T) {
	above := image.Rect(300, 0, 700, 70) // where no axis is
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
	left, right := image.Rect(0, 0, 980, 760), image.Rect(980, 0, 1940, 760)
	legend := image.Rect(1960, 0, img.Bounds().Dx(), 760)
	for name, c := range map[string]struct {
		in                            image.Rectangle
		hasFirst, hasSecond, hasThird bool
	}{
		"first panel":  {left, true, true, false},
		"second panel": {right, false, true, true},
		"legend":       {legend, true, true, true},
	} {
		n := colours(img, c.in)
		if n[blue] > 0 != c.hasFirst || n[vermillion] > 0 != c.hasSecond || n[green] > 0 != c.hasThird {
			t.Errorf("%s: %d blue, %d vermillion and %d green pixels", name, n[blue], n[vermillion], n[green])
		}
	}
	// Nothing of a series lies between the panels and beside the names.
	if n := colours(img, image.Rect(0, 0, 20, 760)); len(n) != 1 {
		t.Errorf("%d colours in the left margin, want 1", len(n))
	}
}

func TestLegendLeavesOutSeriesWithoutName(t *testing.T) {
	img := picture(t, figure.Figure{Panels: []figure.Panel{{Series: lines("")}}})
	if got := img.Bounds().Dx(); abs(got-1000) > 1 {
		t.Errorf("width %d, want 1000: no legend", got)
	}
}

func TestPictureOfAnyNumbers(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
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
			if log && len(values) == 1 && values[0] < 0 && values[0] != -1 {
				continue // without a place, as −1
			}
			f := figure.Figure{Panels: []figure.Panel{panel(log, log, values, values)}}
			if _, err := paint.Picture(&f); err != nil {
				t.Errorf("%g, logarithmic %v: %v", values, log, err)
			}
		}
		upright := figure.Series{Y: strange, YLow: strange, YHigh: strange, Style: figure.Bars}
		if log {
			upright.Style = figure.Points
		}
		f := figure.Figure{Panels: []figure.Panel{{LogY: log, Categories: make([]string, len(strange)), Series: []figure.Series{upright, upright}}}}
		if _, err := paint.Picture(&f); err != nil {
			t.Errorf("categories, logarithmic %v: %v", log, err)
		}
	}
}

func TestPictureErrors(t *testing.T) {
	f := figure.Figure{}
	var wrong *fl.ParamError
	if err := paint.PNG(io.Discard, &f); !errors.As(err, &wrong) || wrong.Param != "Plot.Panels" {
		t.Errorf("no panels: %v", err)
	}
	full := errors.New("full")
	f.Panels = make([]figure.Panel, 1)
	if err := paint.PNG(failing{full}, &f); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
}

func TestOtherFormats(t *testing.T) {
	f := figure.Figure{Title: "Figure 1", Panels: []figure.Panel{{Series: lines("a")}}}
	for head, write := range map[string]func(io.Writer, *figure.Figure) error{"\x89PNG": paint.PNG, "<svg xmlns": paint.SVG, "%PDF-": paint.PDF} {
		var b bytes.Buffer
		if err := write(&b, &f); err != nil || !bytes.HasPrefix(b.Bytes(), []byte(head)) {
			t.Errorf("%q: %v, %.20q", head, err, b.Bytes())
		}
	}
}

// failing refuses all writes.
type failing struct{ err error }

func (w failing) Write([]byte) (int, error) { return 0, w.err }
