package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// scattering has a line for each variant, and a column for each data set and ε.
func scattering(in []*experiment.Record) (string, error) {
	var variants, heads []string
	cells := map[string]string{}
	for _, r := range in {
		pictures := "digits"
		if _, after, ok := strings.Cut(r.Command, "--data "); ok {
			if pictures, _, _ = strings.Cut(after, " "); pictures == "DIR" {
				pictures = "MNIST"
			}
		}
		for _, row := range r.Rows {
			variant := fmt.Sprintf("%v | %v | %v | %v", row["fitted_on"], row["components"], row["whitening"], row["logarithm"])
			head := pictures + ", no privacy"
			if central, private := row["epsilon_central"].(float64); private {
				budgets := []float64{0.1, 0.25, 1}
				at, ok := asked(central, budgets)
				if !ok {
					return "", fmt.Errorf("central ε %g is none of %v", central, budgets)
				}
				head = fmt.Sprintf("%s, ε = %g", pictures, budgets[at])
			}
			if !slices.Contains(variants, variant) {
				variants = append(variants, variant)
			}
			if !slices.Contains(heads, head) {
				heads = append(heads, head)
			}
			accuracy, err := number(row, "accuracy")
			if err != nil {
				return "", err
			}
			cells[variant+head] = fmt.Sprintf("%.3f", accuracy)
		}
	}
	g := newGrid(append([]string{"fitted on", "components", "whitening", "logarithm"}, heads...)...)
	for _, variant := range variants {
		line := strings.Split(variant, " | ")
		for _, head := range heads {
			line = append(line, cells[variant+head])
		}
		g.add(line...)
	}
	return g.String(), nil
}
