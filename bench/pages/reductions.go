package pages

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// rivals are the mechanisms whose errors Collision's are compared with, and a second reading of the first.
var rivals = []string{"PrivKV", "PCKV-GRR", "PCKV-AGRR", "PCKV-UE", "PrivKV, 3-ary"}

// claimedReductions are what Wang et al. say about their figures.
var claimedReductions = map[float64]string{6: "more than 60 %", 7: "more than 60 %", 12: "about 30 %", 13: "about 30 %", 15: "about 30 %"}

// reductions lists by how much Collision's errors are below other mechanisms' errors, by the mean logarithms
// that the figures draw, averaged over all sparsities and ε.
func reductions(in []*experiment.Record) (string, error) {
	type setting struct{ figure, sparsity, epsilon float64 }
	errors, titles := map[setting]map[string]float64{}, map[float64]string{}
	var order []float64
	for _, row := range in[0].Rows {
		v, err := numbers(row, "figure", "sparsity", "epsilon", "log_error", "clients", "dim")
		if err != nil {
			return "", err
		}
		if _, ok := titles[v[0]]; !ok {
			order = append(order, v[0])
			titles[v[0]] = fmt.Sprintf("%v, n = %.0f, d = %.0f", row["metric"], v[4], v[5])
		}
		at := setting{v[0], v[1], v[2]}
		if errors[at] == nil {
			errors[at] = map[string]float64{}
		}
		errors[at][fmt.Sprint(row["mechanism"])] = v[3]
	}
	g := newGrid("figure", "error", rivals[0], rivals[1], rivals[2], rivals[3], "mean of the four", "paper", rivals[4]+", in the place of "+rivals[0])
	for _, figure := range order {
		gains, settings := make([]float64, len(rivals)), 0.0
		for at, values := range errors {
			if at.figure != figure {
				continue
			}
			settings++
			for i, name := range rivals {
				other, ok := values[name]
				own, both := values["Collision"]
				if !ok || !both {
					return "", fmt.Errorf("figure %g has no %s or no Collision at s = %g, ε = %g", figure, name, at.sparsity, at.epsilon)
				}
				gains[i] -= math.Expm1(own - other)
			}
		}
		cells, pooled := []string{fmt.Sprint(figure), titles[figure]}, 0.0
		for i := range gains {
			gains[i] /= settings
			if i < 4 {
				pooled += gains[i] / 4
				cells = append(cells, share(gains[i]))
			}
		}
		claimed := claimedReductions[figure]
		if claimed == "" {
			claimed = "–"
		}
		g.add(append(cells, share(pooled), claimed, share(gains[4]))...)
	}
	return g.String(), nil
}

func share(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }
