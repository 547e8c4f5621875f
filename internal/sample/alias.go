package sample

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"gonum.org/v1/gonum/floats"
)

// Alias draws indices with given probabilities in O(1): the alias method of
// Walker in the form of Vose, A Linear Algorithm for Generating Random Numbers
// with a Given Distribution, IEEE Transactions on Software Engineering 17(9),
// 1991.
//
// The n weights are rounded to integers whose sum is n·2^s, between 2^62 and
// 2^63. That moves a probability by at most 2^−50 of itself and 2^−62, except
// the largest, which also takes up what the others leave: at most 2^−50 +
// n·2^−62. A weight of 0 stays 0. Everything after the rounding is integer
// arithmetic: the draws have exactly the rounded probabilities.
type Alias struct{ columns []column }

// column is one of n, each drawn with probability 1/n. Of the 2^64 values of a
// second integer those below own stand for the column's own index, the others
// for other, which is the same index where there is nothing to share.
type column struct {
	own   uint64
	other uint32
}

// NewAlias builds the table of weights that are finite, at least 0 and not all
// 0, at most 2^31 of them, in O(n) time and 16 bytes each. It copies them.
func NewAlias(weights []float64) (*Alias, error) {
	if len(weights) == 0 || len(weights) > 1<<31 {
		return nil, fmt.Errorf("sample: %w", fl.Invalid("len(weights)", len(weights), "1 to 2^31"))
	}
	largest := 0.
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("sample: %w", fl.Invalid(fmt.Sprintf("weights[%d]", i), w, "finite (not NaN or Inf) and >= 0"))
		}
		largest = max(largest, w)
	}
	if largest == 0 {
		return nil, fmt.Errorf("sample: %w", fl.Invalid("weights", "all 0", "at least one is positive"))
	}
	s := 63 - bits.Len(uint(len(weights)-1))
	return &Alias{columns: shareOut(roundWeights(weights, largest, uint64(len(weights))<<s), s)}, nil
}

// roundWeights returns integers of sum total in proportion to the weights.
func roundWeights(weights []float64, largest float64, total uint64) []uint64 {
	// Relative to the largest, the sum cannot overflow.
	relative := make([]float64, len(weights))
	for i, w := range weights {
		relative[i] = w / largest
	}
	unit := float64(total) / floats.SumCompensated(relative)
	rounded := make([]uint64, len(weights))
	peak, rest := 0, total
	for i, w := range relative {
		rounded[i] = uint64(math.Round(w * unit))
		rest -= rounded[i]
		if rounded[i] > rounded[peak] {
			peak = i
		}
	}
	rounded[peak] += rest // modulo 2^64, as the rest may be negative
	return rounded
}

// shareOut makes columns of 2^s units each out of the units of every index,
// len(units)·2^s in all.
func shareOut(units []uint64, s int) []column {
	size := uint64(1) << s
	columns := make([]column, len(units))
	var small, large []uint32 // indices with less than a column left to place, and the others
	for i, u := range units {
		if u < size {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 {
		// Less than a column here means more than a column there, as the sum is right.
		i, donor := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		columns[i] = column{own: units[i] << (64 - s), other: donor}
		units[donor] -= size - units[i]
		if units[donor] < size {
			large = large[:len(large)-1]
			small = append(small, donor)
		}
	}
	for _, i := range large {
		columns[i] = column{other: i}
	}
	return columns
}

// Rand draws an index from two uniform integers, in O(1).
func (a *Alias) Rand(rng *rand.Rand) int {
	i := rng.Uint64N(uint64(len(a.columns)))
	if c := &a.columns[i]; rng.Uint64() >= c.own {
		return int(c.other)
	}
	return int(i)
}
