package figure

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Sizes of the picture.
const (
	panelWidth  = 4.8 * vg.Inch
	panelHeight = 3.6 * vg.Inch
	titleHeight = 0.35 * vg.Inch
	margin      = 0.1 * vg.Inch
	gap         = 0.2 * vg.Inch
	dotsPerInch = 120
)

// WritePNG draws the figure: panels of 4.8 × 3.6 inches at 120 dots per inch, the
// title above them and the legend to their right. It returns a *fl.ParamError
// for an invalid figure and the error of w. O(points + pixels).
func (f *Figure) WritePNG(w io.Writer) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	looks := f.looks()
	columns := f.Columns
	if columns == 0 {
		columns = int(math.Ceil(math.Sqrt(float64(len(f.Panels)))))
	}
	rows := (len(f.Panels) + columns - 1) / columns
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
	}
	for i, p := range f.Panels {
		drawn, err := p.plot(looks)
		if err != nil {
			return fmt.Errorf("experiment: %w", err)
		}
		grid[i/columns][i%columns] = drawn
	}

	legend := f.legend(looks)
	top := vg.Length(0)
	if f.Title != "" {
		top = titleHeight
	}
	gridWidth := vg.Length(columns)*panelWidth + 2*margin
	size := vg.Point{X: gridWidth, Y: vg.Length(rows)*panelHeight + 2*margin + top}
	if r := legend.Rectangle(draw.Canvas{}); r.Size().X > 0 {
		size.X += r.Size().X + gap
		size.Y = max(size.Y, r.Size().Y+2*gap+top)
	}
	img := vgimg.NewWith(vgimg.UseWH(size.X, size.Y), vgimg.UseDPI(dotsPerInch))
	canvas := draw.New(img)
	if f.Title != "" {
		style := plot.New().Title.TextStyle
		style.Font.Size = 14
		canvas.FillText(style, vg.Point{X: canvas.Center().X, Y: canvas.Max.Y - margin}, f.Title)
	}
	area := draw.Crop(canvas, 0, gridWidth-size.X, 0, -top)
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
	legend.Draw(draw.Crop(canvas, gridWidth, 0, 0, -top-gap))
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// look is what the series of one name have in common.
type look struct {
	color color.Color
	mark  draw.GlyphDrawer
}

func (f *Figure) looks() map[string]look {
	looks := map[string]look{}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if _, ok := looks[s.Name]; !ok {
				i := len(looks)
				looks[s.Name] = look{color: plotutil.DarkColors[i%len(plotutil.DarkColors)], mark: plotutil.Shape(i)}
			}
		}
	}
	return looks
}

// legend has one entry per name, drawn as where the name comes first.
func (f *Figure) legend(looks map[string]look) plot.Legend {
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.Padding = vg.Points(3)
	listed := map[string]bool{"": true}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if !listed[s.Name] {
				listed[s.Name] = true
				legend.Add(s.Name, s.thumbnails(looks[s.Name])...)
			}
		}
	}
	return legend
}
