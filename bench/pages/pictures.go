package pages

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// kind says what a line is. Each kind has a look that no other has.
type kind uint8

const (
	simulated kind = iota // by simulation: hollow marks on a line
	reading               // another reading of a measured curve: its colour, dashed
	proved                // or exact: filled marks on a line
	unproved              // disproved, withdrawn or for comparison alone: dashed, in a colour of its own
	printed               // by the paper: stars
)

// style is the look of a kind.
func (k kind) style() figure.Style {
	return [...]figure.Style{simulated: figure.LinePoints, reading: figure.Dashed, proved: figure.Proved, unproved: figure.Dashed, printed: figure.Stars}[k]
}

// line is what a row adds a point to.
type line struct {
	name string
	kind kind
	of   string // of a reading, and of a theory: the line that it belongs to
}

// form says how rows become a picture.
type form struct {
	about      string // the beginning of the text for those who do not see it
	x          string // column
	at         func(row map[string]any) (x float64, ok bool)
	category   string                          // column whose values are named along the axis, in place of x
	ys         []axis                          // with several, each has panels of its own
	title      func(row map[string]any) string // of the row's panel; nil: there is one
	xLabel     string
	logX, logY bool
	yRange     [2]float64
	curves     func(row map[string]any) line
	low, high  string // columns of the ends of error bars, "": none
	also       []also // columns that are curves, too
	levels     []also // columns whose largest number is a level all along the axis
	keep       func(row map[string]any) bool
}

// axis is a column of a picture's values.
type axis struct{ column, label string }

// also is a column with the values of further curves: of each one if of is "", else of all together.
type also struct {
	column string
	curve  func(row map[string]any) line
}

// picture returns a picture of the rows of a result that conditions leave, and its text.
func (f form) picture(r *experiment.Record, conditions []string) (*figure.Figure, string, error) {
	fig := &figure.Figure{Narrow: true}
	panels, series := map[string]*figure.Panel{}, map[string]*figure.Series{}
	var order []string
	levels := map[string]bool{} // names of curves
	add := func(key string, c line, x, y, low, high float64) {
		own, ok := series[key+c.name]
		if !ok {
			panels[key].Series = append(panels[key].Series, figure.Series{Name: c.name, Of: c.of, Style: c.kind.style()})
			own = &panels[key].Series[len(panels[key].Series)-1]
			for i := range panels[key].Series { // append may have moved them
				series[key+panels[key].Series[i].Name] = &panels[key].Series[i]
			}
		}
		if f.category != "" && c.kind == simulated { // beside the others of its category
			for own.Style = figure.Points; len(own.Y) < int(x); {
				own.AddNext(math.NaN(), math.NaN(), math.NaN())
			}
			own.AddNext(y, low, high)
			return
		}
		if f.category != "" && c.kind == proved {
			if at := slices.Index(own.X, x); at >= 0 { // of several readings
				own.Y[at] = min(own.Y[at], y)
				return
			}
		}
		if f.low == "" || c.kind != simulated {
			own.X, own.Y = append(own.X, x), append(own.Y, y)
			return
		}
		own.Add(x, y, low, high)
	}
	for _, row := range r.Rows {
		if !fits(row, conditions) || f.keep != nil && !f.keep(row) {
			continue
		}
		for _, y := range f.ys {
			title := ""
			if f.title != nil {
				title = f.title(row)
			}
			key := y.column + " " + title
			if panels[key] == nil {
				panels[key] = &figure.Panel{Title: title, XLabel: f.xLabel, YLabel: y.label, LogX: f.logX, LogY: f.logY, YRange: f.yRange}
				order = append(order, key)
			}
			x, ok := f.place(row, panels[key])
			if !ok {
				return nil, "", fmt.Errorf("a row without a number %q", f.x)
			}
			ends, err := numbers(row, f.low, f.high)
			if f.low == "" || err != nil {
				ends = []float64{math.NaN(), math.NaN()}
			}
			if v, ok := row[y.column].(float64); ok {
				if math.IsNaN(ends[0]) {
					ends = []float64{v, v}
				}
				add(key, f.curves(row), x, v, ends[0], ends[1])
			}
			for _, a := range f.also {
				if v, ok := row[a.column].(float64); ok {
					add(key, a.curve(row), x, v, v, v)
				}
			}
			for _, l := range f.levels {
				if v, ok := row[l.column].(float64); ok {
					level := l.curve(row)
					levels[level.name] = true
					add(key, level, x, v, v, v)
				}
			}
		}
	}
	for _, key := range order {
		for i, s := range panels[key].Series {
			if levels[s.Name] {
				most := slices.Max(s.Y)
				panels[key].Series[i].X, panels[key].Series[i].Y = []float64{slices.Min(s.X), slices.Max(s.X)}, []float64{most, most}
			}
		}
		// What is proved comes first, so that it has colours of its own.
		slices.SortStableFunc(panels[key].Series, func(a, b figure.Series) int { return rank(a) - rank(b) })
		fig.Panels = append(fig.Panels, *panels[key])
	}
	if f.low != "" {
		fig.ErrorBars = experiment.ErrorBars
	}
	if err := paint.Validate(fig); err != nil {
		return nil, "", err
	}
	return fig, f.text(fig), nil
}

// rank is the place of a kind of curve in the legend.
func rank(s figure.Series) int {
	return slices.Index([]figure.Style{figure.Proved, figure.LinePoints, figure.Points, figure.Dashed, figure.Stars}, s.Style)
}

// place is where a row is on the horizontal axis of its panel.
func (f form) place(row map[string]any, in *figure.Panel) (x float64, ok bool) {
	switch {
	case f.category != "":
		name := fmt.Sprint(row[f.category])
		at := slices.Index(in.Categories, name)
		if at < 0 {
			at, in.Categories = len(in.Categories), append(in.Categories, name)
		}
		return float64(at), true
	case f.at != nil:
		return f.at(row)
	}
	x, ok = row[f.x].(float64)
	return x, ok
}

// fits says whether a row has the values of conditions.
func fits(row map[string]any, conditions []string) bool {
	for _, c := range conditions {
		if key, want, _ := strings.Cut(c, "="); fmt.Sprint(row[key]) != want {
			return false
		}
	}
	return true
}

// text says what is to be seen: the curves in the order of their last values in the last panel.
func (f form) text(fig *figure.Figure) string {
	last := fig.Panels[len(fig.Panels)-1]
	type end struct {
		name string
		x, y float64
	}
	var ends []end
	for _, s := range last.Series {
		if n := len(s.Y); n > 0 {
			e := end{name: s.Name, y: s.Y[n-1]}
			if len(s.X) == n && f.category == "" {
				e.x = s.X[n-1]
			}
			ends = append(ends, e)
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int {
		if a.y < b.y {
			return -1
		}
		return 1
	})
	// A curve that ends before the others has its last place, too.
	farthest := math.Inf(-1)
	for _, e := range ends {
		farthest = max(farthest, e.x)
	}
	var names []string
	for _, e := range ends {
		name := fmt.Sprintf("%s %s", e.name, strconv.FormatFloat(e.y, 'g', 3, 64))
		if e.x < farthest {
			name += fmt.Sprintf(" at %.3g", e.x)
		}
		names = append(names, name)
	}
	out := f.about + "."
	if last.Title != "" && len(fig.Panels) > 1 {
		out += fmt.Sprintf(" Last of %d panels: %s.", len(fig.Panels), last.Title)
	}
	out += " Last values from below: " + strings.Join(names, "; ") + "."
	return strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(out)
}

// svg draws a picture.
func svg(fig *figure.Figure) (string, error) {
	var b bytes.Buffer
	err := paint.SVG(&b, fig)
	return b.String(), err
}
