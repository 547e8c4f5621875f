package plan

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/auto"
)

// Digits are the generated digits of examples/mnist, among the public pictures on which accuracy was
// measured.
const Digits = "digits"

// Expected is the test accuracy of a run like those that were measured.
type Expected struct {
	// Accuracy is between the accuracies of the measured runs with the next smaller and the next
	// larger noise, on a line over the logarithm of the noise.
	Accuracy float64 `json:"accuracy"`
	// Error is how far a single run may be off, about 95 times in 100: accuracy falls as noise
	// grows, so that it is between the prediction intervals of the two.
	Error float64 `json:"error"`
	// Features are the measured runs' features.
	Features string `json:"features"`
	// Command measured it, on generated digits.
	Command string `json:"command"`
}

func (e Expected) String() string {
	return fmt.Sprintf("%.3f ± %.3f on generated digits with %s (measured by `%s`)", e.Accuracy, math.Ceil(1000*e.Error)/1000, e.Features, e.Command)
}

// at returns the accuracy at a noise within the measured range.
func (c curve) at(noise float64) (Expected, bool) {
	less, more, share, ok := c.between(noise)
	if !ok {
		return Expected{}, false
	}
	accuracy := less.Accuracy + share*(more.Accuracy-less.Accuracy)
	low := min(more.Accuracy-more.half(), less.Accuracy-less.half())
	high := max(more.Accuracy+more.half(), less.Accuracy+less.half())
	return Expected{Accuracy: accuracy, Error: max(accuracy-low, high-accuracy), Features: c.Features, Command: c.command}, true
}

// expected returns the accuracy of a run that is planned like those that were measured, and false
// for any other.
func (run *Run) expected(q Request) (Expected, bool, error) {
	curves, err := measured()
	if err != nil || run.Schedule == nil {
		return Expected{}, false, err
	}
	for _, c := range curves {
		if c.public != Digits || !c.is(q) {
			continue
		}
		like := c.rows[0]
		if q.Mechanism != auto.Name || q.Sparsity != 0 || q.Clip != 0 || q.LearningRate != 0 || q.MaxLearningRate != 0 ||
			q.Clients != like.Clients || run.Cohort != run.Clients || run.Rounds != like.Rounds || run.Affordable != run.Rounds {
			return Expected{}, false, nil
		}
		e, ok := c.at(run.Schedule.Noise)
		return e, ok, nil
	}
	return Expected{}, false, nil
}
