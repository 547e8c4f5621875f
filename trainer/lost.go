package trainer

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// lostRounds is how many rounds in a row must show no signal before a run counts as lost: a quarter of the planned ones, and at least
// three. A run of many rounds has few reports in each, and single rounds show little.
func (c RunConfig) lostRounds() int { return max(3, c.Rounds/4) }

// evidence is what the mean of a round says about its signal.
type evidence struct {
	// excess is the squared norm of the mean beyond what noise adds to it: an unbiased estimate of the signal's
	// squared norm. variance is its variance where there is no signal.
	excess, variance float64
}

// evidenceOf returns the evidence of a mean. One whose noise is not known is no evidence against its signal.
//
// Noise of d independent normal coordinates with standard deviations σ_i adds Σσ_i² to the squared norm, with the variance
// 2Σσ_i⁴. The sum of squares comes from fl.Estimate.NoiseNorm. The standard errors say how it is spread: some are widened,
// so they count in proportion.
func evidenceOf(e *fl.Estimate) evidence {
	if math.IsNaN(e.NoiseNorm) {
		return evidence{excess: math.Inf(1)}
	}
	var norm, squares, fourth float64
	mean := e.Mean()
	for i, v := range mean.Value {
		norm += v * v
		square := 1.
		if mean.StdErr != nil {
			square = mean.StdErr[i] * mean.StdErr[i]
		}
		squares += square
		fourth += square * square
	}
	noise := e.NoiseNorm * e.NoiseNorm
	if squares > 0 {
		fourth *= noise / squares * (noise / squares)
	}
	return evidence{excess: norm - noise, variance: 2 * fourth}
}

// lost says whether rounds show no signal, as many as it takes to say so: together they have no more than two standard deviations of
// noise alone.
func lost(rounds []evidence, enough int) bool {
	excess, variance := sumOf(rounds)
	return len(rounds) == enough && variance > 0 && excess <= 2*math.Sqrt(variance)
}

// found says whether as many rounds show a signal: together they have more than that. Noise alone has it in about one of 30 runs.
func found(rounds []evidence, enough int) bool {
	excess, variance := sumOf(rounds)
	return len(rounds) == enough && excess > 2*math.Sqrt(variance)
}

// sumOf adds up what rounds say.
func sumOf(rounds []evidence) (excess, variance float64) {
	for _, e := range rounds {
		excess += e.excess
		variance += e.variance
	}
	return excess, variance
}
