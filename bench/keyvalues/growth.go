package keyvalues

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// pairsOfFigures are two figures that differ in n or in d, and by what factor the paper says that
// errors differ.
var pairsOfFigures = []struct {
	large, small int
	factor       float64
	said         string
}{
	{8, 6, math.Sqrt2, "grow like √d"}, {9, 7, math.Sqrt2, "grow like √d"}, {15, 14, math.Sqrt2, "grow like √d"},
	{10, 6, math.Sqrt(10), "are √10 times larger"}, {11, 7, math.Sqrt(10), "are √10 times larger"}, {16, 14, math.Sqrt(10), "are √10 times larger"},
}

// growth is the claims about pairs of figures of a run.
func (st *study) growth(shown []paperFigure) (out []experiment.Verdict) {
	find := func(number int) (paperFigure, bool) {
		i := slices.IndexFunc(shown, func(f paperFigure) bool { return f.number == number })
		return append(shown, paperFigure{})[max(i, 0)], i >= 0
	}
	for _, p := range pairsOfFigures {
		large, ok := find(p.large)
		small, both := find(p.small)
		if !ok || !both {
			continue
		}
		low, high, total, settings := math.Inf(1), math.Inf(-1), 0.0, 0
		for i := range st.sparsities {
			for k := range st.epsilons {
				for j, c := range contenders {
					if c.of != "" || c.reference || st.of(large, i, j, k) == nil {
						continue
					}
					gain := stat.Mean(st.of(large, i, j, k), nil) - stat.Mean(st.of(small, i, j, k), nil)
					low, high = min(low, math.Exp(gain)), max(high, math.Exp(gain))
					total += gain
					settings++
				}
			}
		}
		average := math.Exp(total / float64(settings))
		out = append(out, experiment.Verdict{
			Claim:  fmt.Sprintf("Figures %d and %d, %s: errors %s", p.small, p.large, large.by.title(), p.said),
			Holds:  math.Abs(average/p.factor-1) <= 0.1,
			Ours:   fmt.Sprintf("%.2f times in the geometric mean", average),
			Paper:  fmt.Sprintf("%.2f times", p.factor),
			Detail: fmt.Sprintf("from %.2f to %.2f times", low, high),
		})
	}
	return out
}
