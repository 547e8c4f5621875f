package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// ErrorBars is what the error bars of all experiments show, for their legends.
const ErrorBars = "95 % interval"

// Interval is a number with its 95 % confidence interval over independent repeats. Low and
// High are Value where there is one repeat only.
type Interval struct{ Value, Low, High float64 }

// MeanInterval returns the mean of independent repeats with Student's interval. It is NaN for
// no values. O(n).
func MeanInterval(values []float64) Interval {
	mean, deviation := stat.MeanStdDev(values, nil)
	n := len(values)
	if n < 2 {
		return Interval{mean, mean, mean}
	}
	return around(mean, deviation/math.Sqrt(float64(n)), n-1)
}

// ShareInterval returns the share of hits among n ≥ 1 independent trials with Wilson's interval:
// Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927. It
// has a width also where all trials or none are hits.
func ShareInterval(hits, n int) Interval {
	const z = 1.96
	trials, share := float64(n), float64(hits)/float64(n)
	middle, half := (share+z*z/2/trials)/(1+z*z/trials), z/(1+z*z/trials)*math.Sqrt(share*(1-share)/trials+z*z/4/trials/trials)
	return Interval{share, middle - half, middle + half}
}

// TrimmedInterval returns the TrimmedMean of independent repeats with its 95 % interval
// by Tukey and McLaughlin, "Less vulnerable confidence and significance procedures for
// location based on a single sample: Trimming/Winsorization 1", Sankhyā A 1963. The values
// that are dropped are replaced by the next ones that are left. The squared standard error is
// the sum of squared deviations of all values, then, over h·(h−1), where h is the number of
// those left, and Student's distribution has h−1 degrees of freedom. It returns the errors of
// TrimmedMean. O(n log n).
func TrimmedInterval(values []float64, dropLow, dropHigh int) (Interval, error) {
	mean, err := TrimmedMean(values, dropLow, dropHigh)
	if err != nil {
		return Interval{}, err
	}
	n := len(values)
	h := n - dropLow - dropHigh
	if h < 2 {
		return Interval{mean, mean, mean}, nil
	}
	winsorized := slices.Sorted(slices.Values(values))
	for i := range winsorized {
		winsorized[i] = winsorized[min(max(i, dropLow), n-1-dropHigh)]
	}
	squares := stat.Variance(winsorized, nil) * float64(n-1)
	return around(mean, math.Sqrt(squares/float64(h)/float64(h-1)), h-1), nil
}

// around returns Student's interval.
func around(value, stderr float64, freedom int) Interval {
	half := stderr * distuv.StudentsT{Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
	return Interval{value, value - half, value + half}
}
