package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/privacy"
)

// curves draws the central ε against the number of reports, with the bounds of the
// literature beside it. What is not proved is dashed.
func (r randomizer) curves(ctx context.Context, delta float64, stderr io.Writer) (*figure.Figure, error) {
	a, slots, err := r.at(r.epsilon)
	if err != nil {
		return nil, err
	}
	sparsity := r.sparsity
	if slots == 0 { // the curves for any randomizer use neither
		sparsity, slots = 1, 2
	}
	comparisons, err := privacy.Comparisons(r.epsilon, sparsity, slots)
	if err != nil {
		return nil, err
	}
	var x []float64
	for exponent := 2.0; exponent <= 7; exponent += 0.25 {
		x = append(x, math.Round(math.Pow(10, exponent)))
	}
	panel := figure.Panel{
		Title:  fmt.Sprintf("%s, local ε = %s, δ = %g", r.mechanism, fl.FormatUp(r.epsilon, 4), delta),
		XLabel: "shuffled reports", YLabel: "central ε", LogX: true, LogY: true,
	}
	bar := progress.New(stderr, "drawing")
	bar.Grow(len(x) * (1 + len(comparisons)))
	defer bar.Close()
	ours := figure.Series{Name: fmt.Sprintf("hushgrad: %s (%s)", boundName(a), privacy.Proved), X: x, Style: figure.Proved}
	for _, n := range x {
		y, err := command.Await(ctx, func() (float64, error) { return a.Epsilon(int(n), delta) })
		if err != nil {
			return nil, err
		}
		ours.Y = append(ours.Y, y)
		bar.Step()
	}
	panel.Series = []figure.Series{ours}
	for _, c := range comparisons {
		series := figure.Series{Name: fmt.Sprintf("%s (%s)", c.Name, c.Status), X: x, Style: figure.Dashed}
		if c.Status == privacy.Proved {
			series.Style = figure.Proved
		}
		for _, n := range x {
			y, err := command.Await(ctx, func() (float64, error) { return c.Curve(int(n), delta) })
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				y = math.NaN() // outside its range
			}
			series.Y = append(series.Y, y)
			bar.Step()
		}
		if slices.ContainsFunc(series.Y, func(y float64) bool { return !math.IsNaN(y) }) {
			panel.Series = append(panel.Series, series)
		}
	}
	return &figure.Figure{Panels: []figure.Panel{panel}}, nil
}
