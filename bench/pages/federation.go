package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// federation has a line for each features, and their accuracy before any client takes part.
func federation(in []*experiment.Record) (string, error) {
	var order, budgets []string
	cells, zero, trained := map[string]string{}, map[string]string{}, map[string]string{}
	for _, r := range in {
		for _, row := range r.Rows {
			name, budget := fmt.Sprint(row["features"]), fmt.Sprintf("ε = %v", row["budget"])
			if _, ok := zero[name]; !ok {
				order = append(order, name)
			}
			zero[name], trained[name] = "–", "none"
			if row["zero_shot"] != nil {
				v, err := number(row, "zero_shot")
				if err != nil {
					return "", err
				}
				zero[name], trained[name] = fmt.Sprintf("%.3f", v), "glyphs" // the only features that know classes
			}
			if !slices.Contains(budgets, budget) {
				budgets = append(budgets, budget)
			}
			accuracy, err := measured(row)
			if err != nil {
				return "", err
			}
			cells[name+budget] = accuracy
		}
	}
	g := newGrid(append([]string{"features", "public pretraining", "zero-shot"}, budgets...)...)
	for _, name := range order {
		line := []string{"`" + name + "`", trained[name], zero[name]}
		for _, budget := range budgets {
			line = append(line, cells[name+budget])
		}
		g.add(line...)
	}
	return g.String(), nil
}

// publicFigures has a line for each features and a column for each kind of public pictures and budget.
func publicFigures(in []*experiment.Record) (string, error) {
	var order, heads []string
	cells := map[string]string{}
	for _, r := range in {
		public := "generated digits"
		if _, after, ok := strings.Cut(r.Command, "-data "); ok {
			public, _, _ = strings.Cut(after, " ")
		}
		for _, row := range r.Rows {
			if row["mechanism"] != "auto" {
				continue
			}
			central, err := number(row, "epsilon_central")
			if err != nil {
				return "", err
			}
			at, ok := asked(central, []float64{0.1, 0.25, 1})
			if !ok {
				continue
			}
			name, head := fmt.Sprint(row["features"]), fmt.Sprintf("%s, ε = %g", public, []float64{0.1, 0.25, 1}[at])
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
			if !slices.Contains(heads, head) {
				heads = append(heads, head)
			}
			if cells[name+head], err = measured(row); err != nil {
				return "", err
			}
		}
	}
	g := newGrid(append([]string{"features"}, heads...)...)
	for _, name := range order {
		line := []string{"`" + name + "`"}
		for _, head := range heads {
			line = append(line, cells[name+head])
		}
		g.add(line...)
	}
	return g.String(), nil
}
