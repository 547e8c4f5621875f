package pages

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// flower lists what python -m hushgrad.bench flower has measured, a line for each way to train. The ε of
// the run comes first: ways with the same ε asked differ in it.
func flower(in []*experiment.Record) (string, error) {
	g := newGrid("training", "ε of the run", "against", "ε asked", "ε of a report", "accuracy", "bytes of a reply", "s a round")
	for _, row := range in[0].Rows {
		accuracy, err := measured(row)
		if err != nil {
			return "", err
		}
		cost, err := numbers(row, "bytes", "seconds", "delta")
		if err != nil {
			return "", err
		}
		run := promised(row, "epsilon_run")
		if cost[2] > 0 {
			run += fmt.Sprintf(" at δ = %g", cost[2])
		}
		g.add(fmt.Sprint(row["name"]), run, fmt.Sprint(row["against"]), promised(row, "epsilon"), promised(row, "epsilon_report"),
			accuracy, fmt.Sprintf("%.0f", cost[0]), fmt.Sprintf("%.1f", cost[1]))
	}
	return g.String(), nil
}

// promised writes an ε of a row, rounded up, or a dash where there is none.
func promised(row map[string]any, column string) string {
	v, ok := row[column].(float64)
	if !ok {
		return "–"
	}
	return fl.FormatUp(v, 3)
}
