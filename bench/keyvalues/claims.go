package keyvalues

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// geometric is the geometric mean of the errors of first points over the errors of second points, with
// its interval over the repeats.
func (s *sweep) geometric(pairs [][2]*point, gauge int) experiment.Interval {
	logs := make([]float64, s.repeats)
	for _, p := range pairs {
		for r := range logs {
			logs[r] += math.Log(p[0].values[gauge][r]/p[1].values[gauge][r]) / float64(len(pairs))
		}
	}
	i := experiment.MeanInterval(logs)
	return experiment.Interval{Value: math.Exp(i.Value), Low: math.Exp(i.Low), High: math.Exp(i.High)}
}

// times writes a ratio of errors.
func times(i experiment.Interval) string {
	return fmt.Sprintf("%.3g [%.3g, %.3g] times the error", i.Value, i.Low, i.High)
}

// margin writes by how much the next best mechanism is worse, and in how many settings it is.
func margin(next experiment.Interval, holds, settings int) string {
	return fmt.Sprintf("next best %.3g [%.3g, %.3g] times, in %d of %d settings", next.Value, next.Low, next.High, holds, settings)
}
