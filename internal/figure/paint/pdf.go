package paint

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"io"
	"math"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// pdfCanvas is a vg.CanvasWriterTo that makes a PDF of one page. gonum's own, vgpdf, has the fonts of code page 1252
// alone: it writes the two bytes of an ε as two characters. The fonts here have all characters of their files.
// Readers can search and copy the text. The canvas draws what figures consist of: text, lines and arcs. Anything else is an
// error, which WriteTo returns.
type pdfCanvas struct {
	doc           *fpdf.Fpdf
	width, height vg.Length
	lines         []vg.Length // the width of lines, by depth of Push
	fonts         map[string]bool
}

func newPDF(width, height vg.Length) *pdfCanvas {
	c := &pdfCanvas{
		doc:   fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width.Points(), Ht: height.Points()}}),
		width: width, height: height, lines: make([]vg.Length, 1), fonts: map[string]bool{},
	}
	c.doc.SetMargins(0, 0, 0)
	c.doc.SetAutoPageBreak(false, 0)
	c.doc.AddPage()
	c.doc.TransformBegin() // fpdf transforms nothing outside
	vg.Initialize(c)
	return c
}

// Size implements vg.CanvasSizer.
func (c *pdfCanvas) Size() (width, height vg.Length) { return c.width, c.height }

// at returns the place of a point as fpdf has it, from the top. A PDF and vg have it from the bottom.
func (c *pdfCanvas) at(p vg.Point) (x, y float64) { return p.X.Points(), (c.height - p.Y).Points() }

// SetLineWidth implements vg.Canvas.
func (c *pdfCanvas) SetLineWidth(width vg.Length) {
	c.lines[len(c.lines)-1] = width
	c.doc.SetLineWidth(width.Points())
}

// SetLineDash implements vg.Canvas.
func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	lengths := make([]float64, len(pattern))
	for i, length := range pattern {
		lengths[i] = length.Points()
	}
	c.doc.SetDashPattern(lengths, offset.Points())
}

// SetColor implements vg.Canvas.
func (c *pdfCanvas) SetColor(own color.Color) {
	plain := color.NRGBAModel.Convert(cmp.Or[color.Color](own, color.Black)).(color.NRGBA)
	r, g, b := int(plain.R), int(plain.G), int(plain.B)
	c.doc.SetFillColor(r, g, b)
	c.doc.SetDrawColor(r, g, b)
	c.doc.SetTextColor(r, g, b)
	c.doc.SetAlpha(float64(plain.A)/math.MaxUint8, "Normal")
}

// Rotate implements vg.Canvas.
func (c *pdfCanvas) Rotate(angle float64) {
	sin, cos := math.Sincos(angle)
	c.doc.Transform(fpdf.TransformMatrix{A: cos, B: sin, C: -sin, D: cos})
}

// Translate implements vg.Canvas.
func (c *pdfCanvas) Translate(by vg.Point) {
	c.doc.Transform(fpdf.TransformMatrix{A: 1, D: 1, E: by.X.Points(), F: by.Y.Points()})
}

// Scale implements vg.Canvas.
func (c *pdfCanvas) Scale(x, y float64) { c.doc.Transform(fpdf.TransformMatrix{A: x, D: y}) }

// Push implements vg.Canvas.
func (c *pdfCanvas) Push() {
	c.lines = append(c.lines, c.lines[len(c.lines)-1])
	c.doc.TransformBegin()
}

// Pop implements vg.Canvas.
func (c *pdfCanvas) Pop() {
	c.lines = c.lines[:len(c.lines)-1]
	c.doc.TransformEnd()
}

// Stroke implements vg.Canvas.
func (c *pdfCanvas) Stroke(p vg.Path) {
	if c.lines[len(c.lines)-1] > 0 {
		c.draw(p, "D")
	}
}

// Fill implements vg.Canvas.
func (c *pdfCanvas) Fill(p vg.Path) { c.draw(p, "F") }

func (c *pdfCanvas) draw(p vg.Path, how string) {
	for _, part := range p {
		x, y := c.at(part.Pos)
		switch part.Type {
		case vg.MoveComp:
			c.doc.MoveTo(x, y)
		case vg.LineComp:
			c.doc.LineTo(x, y)
		case vg.ArcComp:
			const degree = 180 / math.Pi
			radius := part.Radius.Points()
			c.doc.ArcTo(x, y, radius, radius, 0, part.Start*degree, (part.Start+part.Angle)*degree)
		case vg.CloseComp:
			c.doc.ClosePath()
		default:
			c.doc.SetErrorf("figure: a PDF of a path with parts of type %d", part.Type)
		}
	}
	c.doc.DrawPath(how)
}

// FillString implements vg.Canvas.
func (c *pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	if face.Font.Size == 0 {
		return
	}
	name := face.Name()
	if !c.fonts[name] {
		var file bytes.Buffer
		if _, err := face.Face.WriteSourceTo(nil, &file); err != nil {
			c.doc.SetError(err)
			return
		}
		c.doc.AddUTF8FontFromBytes(name, "", file.Bytes())
		c.fonts[name] = true
	}
	c.doc.SetFont(name, "", face.Font.Size.Points())
	x, y := c.at(at)
	c.doc.Text(x, y, text)
}

// DrawImage implements vg.Canvas.
func (c *pdfCanvas) DrawImage(vg.Rectangle, image.Image) {
	c.doc.SetErrorf("figure: a PDF of an image")
}

// WriteTo implements io.WriterTo.
func (c *pdfCanvas) WriteTo(w io.Writer) (int64, error) {
	c.doc.TransformEnd()
	var file bytes.Buffer
	if err := c.doc.Output(&file); err != nil {
		return 0, err
	}
	return file.WriteTo(w)
}
