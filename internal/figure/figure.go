package figure

// Figure is a grid of panels with one legend. Series of the same name have the
// same colour and mark in all panels, and one entry in the legend.
type Figure struct {
	Title     string // go run ./bench fills in the experiment's when it is empty
	Columns   int    // panels side by side; 0: as many as make the grid about square
	ErrorBars string // what the error bars show, in the legend; empty: not there
	Panels    []Panel
	// Narrow puts flat panels below each other and the legend below them, for a page that is read on a phone, too.
	Narrow bool
}

// Panel is one pair of axes. Points that have no place on them are left out: NaN,
// infinite and, on a logarithmic axis, those that are not positive. Titles that are too
// long for a line are broken into several.
type Panel struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool
	YRange                [2]float64 // both zero: from the data
	Categories            []string   // names below x = 0, 1, …
	Series                []Series
}

// Style is how a series is drawn.
type Style uint8

const (
	Line       Style = iota // points joined by a line
	Points                  // marks only
	LinePoints              // hollow marks joined by a line, for what is measured
	Dashed                  // points joined by a dashed line, for theory and references
	Bars                    // one bar per category; not on a logarithmic axis, which has no zero for them to begin at
	Stars                   // stars only, for what others report
	Proved                  // filled marks joined by a line, for what is proved or exact
)

// Series is a sequence of points.
type Series struct {
	Name string // in the legend; empty: not there
	// Of names another series of the figure that this one is a reference for: its theory, or
	// a paper's number. It has that one's colour, and is Dashed, Proved or Points, which are crosses.
	Of string
	// X are the places of Y. In a panel with categories it may be nil, for 0, 1, …: marks
	// and bars then stand beside the other series' marks and bars.
	X           []float64
	Y           []float64
	YLow, YHigh []float64 // ends of the error bars, both or neither, not relative to Y
	Style       Style
}

// Add appends a point with its error bar. Series without error bars are made of X and Y.
func (s *Series) Add(x, y, low, high float64) {
	s.X = append(s.X, x)
	s.AddNext(y, low, high)
}

// AddNext appends a point for the next category.
func (s *Series) AddNext(y, low, high float64) {
	s.Y, s.YLow, s.YHigh = append(s.Y, y), append(s.YLow, low), append(s.YHigh, high)
}
