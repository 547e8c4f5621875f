package paint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas is a vg.CanvasWriterTo that makes a small SVG: gonum's own repeats the style of every line and of every text, with
// five digits, and takes three to five times as many bytes. Here lines of one look that follow each other are one path, and the
// unit is a tenth of a point. The canvas draws what figures consist of: text, lines and arcs. Anything else is an error, which WriteTo returns.
type svgCanvas struct {
	width, height vg.Length
	body          bytes.Buffer
	open          string // what is open: the start of a path, or the group of texts
	x, y          int    // where the pen is
	fromX, fromY  int    // where it began
	states        []svgState
	err           error
}

// svgState is what Push keeps.
type svgState struct {
	color  color.Color
	width  vg.Length
	dashes []vg.Length
	// A point (x, y) is at (a·x + c·y + e, b·x + d·y + f), from the bottom.
	a, b, c, d, e, f float64
}

func newSVG(width, height vg.Length) *svgCanvas {
	c := &svgCanvas{width: width, height: height, states: []svgState{{a: 1, d: 1}}}
	vg.Initialize(c)
	return c
}

func (c *svgCanvas) state() *svgState { return &c.states[len(c.states)-1] }

// Size implements vg.CanvasSizer.
func (c *svgCanvas) Size() (width, height vg.Length) { return c.width, c.height }

// SetLineWidth implements vg.Canvas.
func (c *svgCanvas) SetLineWidth(width vg.Length) { c.state().width = width }

// SetLineDash implements vg.Canvas.
func (c *svgCanvas) SetLineDash(pattern []vg.Length, _ vg.Length) { c.state().dashes = pattern }

// SetColor implements vg.Canvas.
func (c *svgCanvas) SetColor(own color.Color) { c.state().color = own }

// Rotate implements vg.Canvas.
func (c *svgCanvas) Rotate(angle float64) {
	sin, cos := math.Sincos(angle)
	s := c.state()
	s.a, s.b, s.c, s.d = s.a*cos+s.c*sin, s.b*cos+s.d*sin, s.c*cos-s.a*sin, s.d*cos-s.b*sin
}

// Translate implements vg.Canvas.
func (c *svgCanvas) Translate(by vg.Point) {
	s := c.state()
	s.e, s.f = s.at(by)
}

// Scale implements vg.Canvas.
func (c *svgCanvas) Scale(x, y float64) {
	s := c.state()
	s.a, s.b, s.c, s.d = s.a*x, s.b*x, s.c*y, s.d*y
}

func (s *svgState) at(p vg.Point) (x, y float64) {
	return s.a*p.X.Points() + s.c*p.Y.Points() + s.e, s.b*p.X.Points() + s.d*p.Y.Points() + s.f
}

// at returns the place of a point in tenths, from the top.
func (c *svgCanvas) at(p vg.Point) (x, y int) {
	fx, fy := c.state().at(p)
	return tenths(fx), tenths(c.height.Points() - fy)
}

func tenths(v float64) int { return int(math.Round(10 * v)) }

// Push implements vg.Canvas.
func (c *svgCanvas) Push() { c.states = append(c.states, *c.state()) }

// Pop implements vg.Canvas.
func (c *svgCanvas) Pop() { c.states = c.states[:len(c.states)-1] }

// Stroke implements vg.Canvas.
func (c *svgCanvas) Stroke(p vg.Path) {
	s := c.state()
	if s.width <= 0 {
		return
	}
	look := fmt.Sprintf(`<path fill="none" stroke="%s" stroke-width="%s"`, hex(s.color), strconv.Itoa(tenths(s.width.Points())))
	if len(s.dashes) > 0 {
		var lengths []string
		for _, d := range s.dashes {
			lengths = append(lengths, strconv.Itoa(tenths(d.Points())))
		}
		look += ` stroke-dasharray="` + strings.Join(lengths, " ") + `"`
	}
	c.draw(look, p)
}

// Fill implements vg.Canvas.
func (c *svgCanvas) Fill(p vg.Path) {
	c.draw(fmt.Sprintf(`<path fill="%s"`, hex(c.state().color)), p)
}

// begin opens what comes next, unless it is open.
func (c *svgCanvas) begin(what string) {
	if c.open == what {
		return
	}
	switch {
	case strings.HasPrefix(c.open, "<path"):
		c.body.WriteString("\"/>\n")
	case c.open != "":
		c.body.WriteString("</g>\n")
	}
	c.open = what
	c.body.WriteString(what)
	switch {
	case strings.HasPrefix(what, "<path"):
		c.body.WriteString(` d="`)
		c.x, c.y = 0, 0
	case what != "":
		c.body.WriteString(">\n")
	}
}

// draw appends a path to the open one of its look.
func (c *svgCanvas) draw(look string, p vg.Path) {
	c.begin(look)
	moved := false
	for _, part := range p {
		switch part.Type {
		case vg.MoveComp:
			c.move(c.at(part.Pos))
			moved = true
		case vg.LineComp:
			c.line(c.at(part.Pos))
		case vg.ArcComp:
			c.arc(part, moved)
			moved = true
		case vg.CloseComp:
			c.body.WriteByte('z')
			c.x, c.y = c.fromX, c.fromY
		default:
			c.err = errors.Join(c.err, fmt.Errorf("figure: an SVG of a path with parts of type %d", part.Type))
		}
	}
}

// move takes the pen to a point, by the shorter of two ways to say it.
func (c *svgCanvas) move(x, y int) {
	if near := pair(x-c.x, y-c.y); len(near) < len(pair(x, y)) {
		c.body.WriteString("m" + near)
	} else {
		c.body.WriteString("M" + pair(x, y))
	}
	c.x, c.y, c.fromX, c.fromY = x, y, x, y
}

// line draws to a point.
func (c *svgCanvas) line(x, y int) {
	switch dx, dy := x-c.x, y-c.y; {
	case dx == 0 && dy == 0:
	case dy == 0:
		c.body.WriteString("h" + strconv.Itoa(dx))
	case dx == 0:
		c.body.WriteString("v" + strconv.Itoa(dy))
	default:
		c.body.WriteString("l" + pair(dx, dy))
	}
	c.x, c.y = x, y
}

// arc draws an arc in two parts, since one cannot be a whole circle. Nothing here scales or mirrors.
func (c *svgCanvas) arc(part vg.PathComp, moved bool) {
	on := func(angle float64) (x, y int) {
		sin, cos := math.Sincos(angle)
		return c.at(vg.Point{X: part.Pos.X + part.Radius*vg.Length(cos), Y: part.Pos.Y + part.Radius*vg.Length(sin)})
	}
	if x, y := on(part.Start); moved {
		c.line(x, y)
	} else {
		c.move(x, y)
	}
	radius, sweep := tenths(part.Radius.Points()), 0 // y grows downwards
	if part.Angle < 0 {
		sweep = 1
	}
	const parts = 2
	for i := range parts {
		x, y := on(part.Start + part.Angle*float64(i+1)/parts)
		fmt.Fprintf(&c.body, "a%[1]d %[1]d 0 0 %[2]d %[3]s", radius, sweep, pair(x-c.x, y-c.y))
		c.x, c.y = x, y
	}
}

// pair writes two numbers, with no more between them than there must be.
func pair(a, b int) string {
	if b < 0 {
		return strconv.Itoa(a) + strconv.Itoa(b)
	}
	return strconv.Itoa(a) + " " + strconv.Itoa(b)
}

// hex writes a colour, black for nil.
func hex(own color.Color) string {
	r, g, b, _ := cmp.Or[color.Color](own, color.Black).RGBA()
	text := fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	if text[1] == text[2] && text[3] == text[4] && text[5] == text[6] {
		return string([]byte{'#', text[1], text[3], text[5]})
	}
	return text
}

// FillString implements vg.Canvas.
func (c *svgCanvas) FillString(face font.Face, at vg.Point, text string) {
	if face.Font.Size == 0 || text == "" {
		return
	}
	s := c.state()
	c.begin(fmt.Sprintf(`<g fill="%s" font-size="%s"`, hex(s.color), strconv.Itoa(tenths(face.Font.Size.Points()))))
	x, y := c.at(at)
	turned := ""
	if angle := math.Atan2(s.b, s.a) * 180 / math.Pi; math.Abs(angle) > 0.01 {
		turned = fmt.Sprintf(` transform="rotate(%s %d %d)"`, strconv.FormatFloat(-angle, 'f', -1, 32), x, y)
	}
	fmt.Fprintf(&c.body, "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, turned, html.EscapeString(text))
}

// DrawImage implements vg.Canvas.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) {
	c.err = errors.Join(c.err, errors.New("figure: an SVG of an image"))
}

// WriteTo implements io.WriterTo.
func (c *svgCanvas) WriteTo(w io.Writer) (int64, error) {
	c.begin("")
	if c.err != nil {
		return 0, c.err
	}
	width, height := tenths(c.width.Points()), tenths(c.height.Points())
	n, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%gpt\" height=\"%gpt\" viewBox=\"0 0 %d %d\" font-family=\"Liberation Serif,Times New Roman,Times,serif\">\n%s</svg>\n", float64(width)/10, float64(height)/10, width, height, c.body.Bytes())
	return int64(n), err
}
