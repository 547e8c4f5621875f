package pages

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// pretrained lists what networks of several sizes make of each kind of pictures. The results
// are of the sizes small and big, in this order.
func pretrained(in []*experiment.Record) (string, error) {
	if len(in) != 2 || len(in[0].Rows) != len(in[1].Rows) {
		return "", fmt.Errorf("%d results, want two of the same pictures", len(in))
	}
	g := newGrid("pictures", "trained on", "classes", "small", "big")
	for i, row := range in[0].Rows {
		if row["pictures"] != in[1].Rows[i]["pictures"] {
			return "", fmt.Errorf("row %d is %v and %v", i+1, row["pictures"], in[1].Rows[i]["pictures"])
		}
		v, err := numbers(row, "classes", "accuracy")
		if err != nil {
			return "", err
		}
		big, err := number(in[1].Rows[i], "accuracy")
		if err != nil {
			return "", err
		}
		trained := "no"
		if row["trained_on"] == true {
			trained = "yes"
		}
		g.add(fmt.Sprint(row["pictures"]), trained, fmt.Sprint(v[0]), fmt.Sprintf("%.3f", v[1]), fmt.Sprintf("%.3f", big))
	}
	return g.String(), nil
}
