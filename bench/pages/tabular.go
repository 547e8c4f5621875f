package pages

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// tabular compares methods of training on tables.
func tabular(in []*experiment.Record) (string, error) {
	g := newGrid("task", "method", "score", "above the optimum, or the trusted server for the shuffler")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "score", "low", "high")
		if err != nil {
			return "", err
		}
		beside := ""
		if row["difference"] != nil {
			d, err := numbers(row, "difference", "difference_low", "difference_high")
			if err != nil {
				return "", err
			}
			beside = fmt.Sprintf("%+.3f [%+.3f, %+.3f]", d[0], d[1], d[2])
		}
		g.add(fmt.Sprintf("%v, %v", row["task"], row["measure"]), fmt.Sprint(row["method"]), fmt.Sprintf("%.3f [%.3f, %.3f]", v[0], v[1], v[2]), beside)
	}
	return g.String(), nil
}
