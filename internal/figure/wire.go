package figure

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// Forms are the forms of a picture, as the endings of their files.
var Forms = []string{".png", ".svg", ".pdf"}

// MaxBytes is how long a written figure may be.
const MaxBytes = 16 << 20

// Write writes the figure as JSON, for another program. JSON has finite numbers alone: infinite points of curves,
// which are not drawn, are left out.
func (f *Figure) Write(w io.Writer) error {
	written := *f
	written.Panels = slices.Clone(f.Panels)
	for i, p := range written.Panels {
		series := slices.Clone(p.Series)
		for j, s := range series {
			if s.X == nil || s.YLow != nil {
				continue
			}
			series[j].X, series[j].Y = nil, nil
			for k, y := range s.Y {
				if !math.IsInf(y, 0) && !math.IsNaN(y) {
					series[j].X, series[j].Y = append(series[j].X, s.X[k]), append(series[j].Y, y)
				}
			}
		}
		written.Panels[i].Series = series
	}
	return json.NewEncoder(w).Encode(written)
}

// Read reads what Write wrote. It reads at most MaxBytes.
func Read(r io.Reader) (*Figure, error) {
	limited := &io.LimitedReader{R: r, N: MaxBytes}
	f, decoder := new(Figure), json.NewDecoder(limited)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(f); err != nil {
		if limited.N == 0 {
			return nil, fmt.Errorf("a figure of more than %d bytes", MaxBytes)
		}
		return nil, fmt.Errorf("it is no figure: %w", err)
	}
	return f, nil
}
