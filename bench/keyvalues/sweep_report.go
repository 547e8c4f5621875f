package keyvalues

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// view is a panel: what a gauge measured for some of the points.
type view struct {
	title     string
	source    string  // "": all
	epsilon   float64 // 0: all
	mechanism string  // "": all
	gauge     int
}

func (v view) shows(p *point) bool {
	return (v.source == "" || p.name == v.source) && (v.epsilon == 0 || p.epsilon == v.epsilon) && (v.mechanism == "" || p.rival.mechanism == v.mechanism)
}

// report is the rows and the picture.
func (s *sweep) report(points []*point) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"data", "dim", "epsilon", "mechanism", "quantity", "scope", "value", "low", "high", "theory"},
		Notes: append([]string{
			fmt.Sprintf("%d repeats, each with data drawn anew. Error bars: Student's 95 %% interval over the repeats.", s.repeats),
		}, append(s.notes,
			"The paper's ε cannot be read off its figures; these are ours.",
			"Frequencies are corrected into [1/n, 1], and means are those among the holders, by each mechanism's own corrected estimator. Keys that nobody holds are left out.",
			"The counts of the reports are drawn from the law that the encoders give them.",
		)...),
		Plot: &figure.Figure{Columns: 2, ErrorBars: experiment.ErrorBars},
	}
	for _, p := range points {
		for i, g := range s.gauges {
			value := p.value(i)
			row := experiment.Row{p.name, p.dim, p.epsilon, p.rival.label, string(g.of), g.scope(), value.Value, value.Low, value.High, nil}
			if p.theory[i].mse > 0 {
				row[len(row)-1] = p.theory[i].mse
			}
			r.Rows = append(r.Rows, row)
		}
	}
	if s.withTheory {
		r.Notes = append(r.Notes, "Theory is Theorem 4, (9) and (10)² + (11), averaged over the keys. It is about estimates without the corrections. The sum is cut at (1+|m|)², the largest squared error of an estimate in [−1, 1].")
	}
	for _, v := range s.views {
		r.Plot.Panels = append(r.Plot.Panels, s.panel(v, points))
	}
	return r
}

func (s *sweep) panel(v view, points []*point) figure.Panel {
	g := s.gauges[v.gauge]
	p := figure.Panel{Title: v.title + ", " + g.scope(), XLabel: epsilonTitle, YLabel: g.title(), LogX: s.againstDim, LogY: g.of != precision}
	if s.againstDim {
		p.XLabel = "number of keys"
	}
	if g.of == precision {
		p.YRange = [2]float64{0, 1.05}
	}
	var expected []figure.Series
	for _, r := range s.rivals {
		measured := figure.Series{Name: r.label, Style: figure.LinePoints}
		line := figure.Series{Name: r.label + ", theory", Of: r.label, Style: figure.Dashed}
		for _, at := range points {
			if at.rival.label != r.label || !v.shows(at) {
				continue
			}
			x, value := at.epsilon, at.value(v.gauge)
			if s.againstDim {
				x = float64(at.dim)
			}
			measured.Add(x, value.Value, value.Low, value.High)
			line.X, line.Y = append(line.X, x), append(line.Y, at.theory[v.gauge].mse)
		}
		if len(measured.X) > 0 {
			p.Series = append(p.Series, measured)
		}
		if s.withTheory && r.isPCKV() {
			expected = append(expected, line)
		}
	}
	p.Series = append(p.Series, expected...)
	return p
}
