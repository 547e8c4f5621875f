package histograms

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
)

// measured is a number with its standard error, 0 where there is none.
type measured struct{ value, stderr float64 }

// score is what one method did in one setting.
type score struct {
	quantile, mse measured
}

// newScore sorts the errors of independent repeats. One repeat has no standard
// error.
func newScore(errors []float64) score {
	slices.Sort(errors)
	squares := make([]float64, len(errors))
	floats.MulTo(squares, errors, errors)
	s := score{quantile: upperQuantile(errors), mse: measured{value: stat.Mean(squares, nil)}}
	if len(squares) > 1 {
		s.mse.stderr = stat.StdErr(stat.StdDev(squares, nil), float64(len(squares)))
	}
	return s
}

// upperQuantile returns the 95 % quantile of n ascending numbers, the r-th with r =
// ⌈0.95·n⌉, and its bootstrap standard error. No resampling is needed: the r-th of n
// numbers drawn with replacement is at most the i-th of the originals with probability
//
//	P[Binomial(n, i/n) ≥ r] = I_{i/n}(r, n−r+1),
//
// the regularized incomplete beta function (Maritz, Jarrett, A Note on Estimating the
// Variance of the Sample Median, JASA 1978). It is 0 for one number. O(n).
func upperQuantile(ascending []float64) measured {
	n := len(ascending)
	rank := (19*n + 19) / 20
	value := ascending[rank-1]
	square, mean, below := 0., 0., 0.
	for i, x := range ascending {
		upTo := mathext.RegIncBeta(float64(rank), float64(n-rank+1), float64(i+1)/float64(n))
		// Distances from the quantile do not cancel.
		mean += (upTo - below) * (x - value)
		square += (upTo - below) * (x - value) * (x - value)
		below = upTo
	}
	return measured{value, math.Sqrt(max(0, square-mean*mean))}
}
