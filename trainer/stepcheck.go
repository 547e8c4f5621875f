package trainer

import "math"

// StepCheck refuses steps that make a model worse on public examples, as steps along means that liars have moved do. Use it where some
// clients may lie and there are public examples of the clients' kind. Start with [NewStepCheck], and set RunConfig.Check to Better.
//
// It reads public examples and released models alone, so that it costs no privacy. It proves nothing about clients: where theirs are of another
// kind, good steps are refused, too. Liars who move the model by little in each round, or where no public example shows it, pass.
type StepCheck struct {
	evaluator *Evaluator
	x         [][]float64
	labels    []int
}

// NewStepCheck returns a check of models on public examples, 100 at least. Close frees it.
func NewStepCheck(m *Model, x [][]float64, labels []int) (*StepCheck, error) {
	const least = 100
	if len(x) < least || len(labels) != len(x) {
		return nil, invalid("labels", len(labels), "must be as many as the %d examples, and at least %d", len(x), least)
	}
	e, err := m.NewEvaluator(min(500, len(x)))
	if err != nil {
		return nil, err
	}
	return &StepCheck{e, x, labels}, nil
}

// stepErrors is how many standard errors a step may lose.
const stepErrors = 3

// Better says whether a step is taken: unless the accuracy falls by more than three standard errors of the difference of two accuracies on so many examples. It is
// safe for one goroutine.
func (c *StepCheck) Better(before, after []float64) (bool, error) {
	was, _, err := c.evaluator.Evaluate(before, c.x, c.labels)
	if err != nil {
		return false, err
	}
	is, _, err := c.evaluator.Evaluate(after, c.x, c.labels)
	if err != nil {
		return false, err
	}
	// One example more that is right and one that is wrong keep the variance above 0, also at accuracies of 0 and 1.
	n := float64(len(c.x))
	variance := func(a float64) float64 { a = (a*n + 1) / (n + 2); return a * (1 - a) / n }
	return was-is <= stepErrors*math.Sqrt(variance(was)+variance(is)), nil
}

// Close frees the check.
func (c *StepCheck) Close() error { return c.evaluator.Close() }
