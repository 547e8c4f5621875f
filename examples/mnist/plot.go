package main

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// writePlot draws the test accuracy by round.
func (r *result) writePlot(path string) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s on %s digits, no privacy", r.Model, r.Data)
	if r.EpsilonLocal != nil {
		p.Title.Text = fmt.Sprintf("%s on %s digits, %s at local ε = %.3g", r.Model, r.Data, r.Mechanism, *r.EpsilonLocal)
	}
	if r.EpsilonCentral != nil {
		p.Title.Text += fmt.Sprintf(", central ε = %.2f", *r.EpsilonCentral)
	}
	p.X.Label.Text = fmt.Sprintf("round (%d clients each)", r.Cohort)
	p.Y.Label.Text = "test accuracy"
	p.X.Min, p.X.Max = 0, float64(r.Rounds)
	p.Y.Min, p.Y.Max = 0, 1
	points := make(plotter.XYs, len(r.history))
	for i, h := range r.history {
		points[i] = plotter.XY{X: float64(h.Round), Y: h.Accuracy}
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	marks.Radius = vg.Points(2)
	p.Add(plotter.NewGrid(), line, marks)
	return p.Save(7*vg.Inch, 4.5*vg.Inch, path)
}
