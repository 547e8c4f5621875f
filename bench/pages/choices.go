package pages

import (
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// choices has a line for each features and a column for each kind of held-out pictures and federation. The features that public pictures choose are in bold.
func choices(in []*experiment.Record) (string, error) {
	if len(in) != 1 {
		return "", fmt.Errorf("%d results, want one", len(in))
	}
	var order, heads []string
	cells := map[[2]string]string{}
	for _, row := range in[0].Rows {
		v, err := numbers(row, "clients", "budget", "accuracy", "error")
		if err != nil {
			return "", err
		}
		name := fmt.Sprintf("`%v`", row["features"])
		head := fmt.Sprintf("%v, %v, %s clients, ε = %g", row["pictures"], row["trust"], experiment.Grouped(v[0]), v[1])
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		if !slices.Contains(heads, head) {
			heads = append(heads, head)
		}
		cell := fmt.Sprintf("%.3f ± %.3f", v[2], v[3])
		if row["chosen"] == true {
			cell = "**" + cell + "**"
		}
		cells[[2]string{name, head}] = cell
	}
	slices.Sort(order)
	g := newGrid(append([]string{"features"}, heads...)...)
	for _, name := range order {
		line := []string{name}
		for _, head := range heads {
			line = append(line, cells[[2]string{name, head}])
		}
		g.add(line...)
	}
	return g.String(), nil
}
