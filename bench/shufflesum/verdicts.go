package shufflesum

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// short writes a number with three digits, and without an exponent up to a million.
func short(x float64) string {
	if x < 100 || x > 1e6 {
		return fmt.Sprintf("%.3g", x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return fmt.Sprintf("%.0f", math.Round(x/unit)*unit)
}

// written writes a percentage with its interval.
func written(i experiment.Interval) string {
	return fmt.Sprintf("%s %% [%s, %s]", short(i.Value), short(max(0, i.Low)), short(i.High))
}

// times is how many times larger one error is than another. Its interval takes the worst of both
// intervals.
func times(a, b experiment.Interval) experiment.Interval {
	high := math.Inf(1)
	if b.Low > 0 {
		high = a.High / b.Low
	}
	return experiment.Interval{Value: a.Value / b.Value, Low: max(0, a.Low) / b.High, High: high}
}

// writtenTimes writes a ratio with its interval.
func writtenTimes(i experiment.Interval) string {
	return fmt.Sprintf("%s times [%s, %s]", short(i.Value), short(i.Low), short(i.High))
}

// pooled is what our errors are as a share of the paper's, in the geometric mean over
// columns, with its 95 % interval: each of the paper's is one group, and ours are means of groups ≥ 2
// of them.
func pooled(ours []experiment.Interval, theirs []float64, groups int) experiment.Interval {
	mean, variance := 0., 0.
	t := distuv.StudentsT{Sigma: 1, Nu: float64(groups - 1)}.Quantile(0.975)
	n := float64(len(ours))
	for i, e := range ours {
		mean += math.Log(e.Value/theirs[i]) / n
		stderr := (e.High - e.Low) / 2 / t / e.Value
		variance += stderr * stderr * float64(groups+1) / n / n
	}
	half := 1.96 * math.Sqrt(variance)
	return experiment.Interval{Value: math.Exp(mean), Low: math.Exp(mean - half), High: math.Exp(mean + half)}
}

// oneRun is where the trimmed mean of a single group, such as the paper's, lies with probability
// 0.99 by Student's law. i is the 95 % interval of the mean of groups ≥ 2 of them.
func oneRun(i experiment.Interval, groups int) experiment.Interval {
	t := distuv.StudentsT{Sigma: 1, Nu: float64(groups - 1)}
	half := (i.High - i.Low) / 2 * math.Sqrt(float64(groups+1)) * t.Quantile(0.995) / t.Quantile(0.975)
	return experiment.Interval{Value: i.Value, Low: max(0, i.Value-half), High: i.Value + half}
}
