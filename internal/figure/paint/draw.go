package paint

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/hushgrad/hushgrad/internal/figure"
)

// Sizes of the picture.
const (
	panelWidth  = 4.8 * vg.Inch
	panelHeight = 3.6 * vg.Inch
	flatHeight  = 2.5 * vg.Inch
	titleHeight = 0.35 * vg.Inch
	margin      = 0.1 * vg.Inch
	gap         = 0.2 * vg.Inch
	dotsPerInch = 200

	// axisTitle is the part of a panel's side that the title of its axis may fill.
	axisTitle = 0.8
)

// broken breaks a title between words into lines of at most the given width.
func broken(style text.Style, title string, width vg.Length) string {
	var lines []string
	for _, word := range strings.Fields(title) {
		last := len(lines) - 1
		if last >= 0 && style.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return strings.Join(lines, "\n")
}

// PNG draws the figure as a PNG of 200 dots per inch: panels of 4.8 × 3.6 inches, the
// title above them and the legend to their right. It returns a *fl.ParamError
// for an invalid figure and the error of w. O(points + pixels).
func PNG(w io.Writer, f *figure.Figure) error {
	return (*picture)(f).write(w, func(width, height vg.Length) vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: pixels(width, height)}
	})
}

func pixels(width, height vg.Length) *vgimg.Canvas {
	return vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))
}

// SVG is PNG for an SVG.
func SVG(w io.Writer, f *figure.Figure) error {
	return (*picture)(f).write(w, func(width, height vg.Length) vg.CanvasWriterTo { return newSVG(width, height) })
}

// PDF is PNG for a PDF of one page.
func PDF(w io.Writer, f *figure.Figure) error {
	return (*picture)(f).write(w, func(width, height vg.Length) vg.CanvasWriterTo { return newPDF(width, height) })
}

// picture is a figure that is drawn.
type picture figure.Figure

// write draws the figure on a canvas of the size it needs.
func (f *picture) write(w io.Writer, open func(width, height vg.Length) vg.CanvasWriterTo) error {
	if err := Validate((*figure.Figure)(f)); err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	looks := f.looks()
	columns, height := cmp.Or(f.Columns, int(math.Ceil(math.Sqrt(float64(len(f.Panels)))))), panelHeight
	if f.Narrow {
		columns, height = 1, flatHeight
	}
	rows := (len(f.Panels) + columns - 1) / columns
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
	}
	for i, p := range f.Panels {
		drawn, err := panel(p).plot(looks, height)
		if err != nil {
			return fmt.Errorf("figure: %w", err)
		}
		grid[i/columns][i%columns] = drawn
	}

	legend := f.legend(looks)
	gridWidth := vg.Length(columns)*panelWidth + 2*margin
	size := vg.Point{X: gridWidth, Y: vg.Length(rows)*height + 2*margin}
	beside := legend.Rectangle(draw.Canvas{}).Size()
	switch {
	case f.Narrow:
		size.Y += beside.Y + gap
	case beside.X > 0:
		size.X += beside.X + gap
		size.Y = max(size.Y, beside.Y+2*gap)
	}
	style := plot.New().Title.TextStyle
	style.Font.Size = 14
	title, top := broken(style, f.Title, size.X-4*margin), vg.Length(0)
	if title != "" {
		top = titleHeight + vg.Length(strings.Count(title, "\n"))*style.Height("M")
	}
	size.Y += top
	opened := open(size.X, size.Y)
	canvas := draw.NewCanvas(opened, size.X, size.Y)
	canvas.SetColor(color.White) // an SVG shows the page behind it, which may be dark
	canvas.Fill(canvas.Rectangle.Path())
	canvas.FillText(style, vg.Point{X: canvas.Center().X, Y: canvas.Max.Y - margin}, title)
	area, below := draw.Crop(canvas, 0, gridWidth-size.X, 0, -top), vg.Length(0)
	if f.Narrow {
		below = beside.Y + gap
		area = draw.Crop(canvas, 0, 0, below, -top)
	}
	tiles := draw.Tiles{
		Rows: rows, Cols: columns, PadX: gap, PadY: gap,
		PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: margin,
	}
	for i, row := range plot.Align(grid, tiles, area) {
		for j, tile := range row {
			if grid[i][j] != nil {
				grid[i][j].Draw(tile)
			}
		}
	}
	if f.Narrow {
		legend.Draw(draw.Crop(canvas, 2*margin, 0, 0, below-size.Y))
	} else {
		legend.Draw(draw.Crop(canvas, gridWidth, 0, 0, -top-gap))
	}
	_, err := opened.WriteTo(w)
	return err
}
