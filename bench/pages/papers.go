package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// contest has a row for each data set, and measure if there are several, and a column for each
// mechanism. In brackets is the paper's number. The readings of a set that the paper does not
// describe are left out: there are many of them, and the verdicts count them.
func contest(in []*experiment.Record) (string, error) {
	var mechanisms, rows []string
	cells := map[string]string{}
	for _, row := range in[0].Rows {
		name := fmt.Sprint(row["data"])
		if strings.HasPrefix(name, "correlated, k = ") {
			continue
		}
		if measure, ok := row["measure"]; ok {
			name += fmt.Sprintf(", %v", measure)
		}
		mechanism, column := fmt.Sprint(row["mechanism"]), "error"
		if _, ok := row["error_percent"]; ok {
			column = "error_percent"
		}
		v, err := number(row, column)
		if err != nil {
			return "", err
		}
		cell := fmt.Sprintf("%.3g", v)
		if theirs, ok := row["paper_"+column].(float64); ok {
			cell += fmt.Sprintf(" (%g)", theirs)
		}
		switch mechanism { // the weights for a set's regime, as in the paper's one column
		case "C", "U":
			mechanism = "C or U"
		case "C-T", "U-T":
			mechanism = "C-T or U-T"
		case "calibrated C", "calibrated U":
			mechanism = "calibrated C or U"
		}
		if !slices.Contains(mechanisms, mechanism) {
			mechanisms = append(mechanisms, mechanism)
		}
		if !slices.Contains(rows, name) {
			rows = append(rows, name)
		}
		cells[name+"/"+mechanism] = cell
	}
	g := newGrid(append([]string{"data"}, mechanisms...)...)
	for _, name := range rows {
		line := []string{name}
		for _, m := range mechanisms {
			line = append(line, cells[name+"/"+m])
		}
		g.add(line...)
	}
	return g.String(), nil
}

// vectorSums has a row for each mechanism of a sum of vectors.
func vectorSums(in []*experiment.Record) (string, error) {
	g := newGrid("mechanism", "error, %", "the paper's", "messages per client", "the paper's")
	optional := func(v any, format string) string {
		if x, ok := v.(float64); ok {
			return fmt.Sprintf(format, x)
		}
		return "–"
	}
	for _, row := range in[0].Rows {
		name := fmt.Sprint(row["mechanism"])
		for _, part := range []string{"relation", "composition"} {
			if text, ok := row[part].(string); ok {
				name += ", " + text
				if part == "composition" {
					name += " composition"
				}
			}
		}
		v, err := number(row, "error_percent")
		if err != nil {
			return "", err
		}
		g.add(name, fmt.Sprintf("%.4g", v), optional(row["paper_error_percent"], "%g"), optional(row["messages_per_client"], "%.0f"), optional(row["paper_messages_per_client"], "%.0f"))
	}
	return g.String(), nil
}
