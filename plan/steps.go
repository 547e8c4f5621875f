package plan

import "math"

// Steps is what a server does with the means of its rounds.
type Steps struct {
	LearningRate float64 `json:"learning_rate"`
	Momentum     float64 `json:"momentum"`
	// Averaging is the decay of the exponential average of the models. The average is
	// the model that counts: it takes away noise of the last steps.
	Averaging float64 `json:"averaging"`
}

// First found for softmax regression on unit vectors under Gaussian noise, on the first
// 50 000 training images of MNIST and measured on the other 10 000. On generated digits
// alone, nothing tried beside them does better. docs/training.md has both searches.
const (
	stepMomentum  = 0.5
	stepAveraging = 0.8
	// noiseGoal is the standard deviation that the noise of a whole run may give a
	// logit: signal and noise of the model both grow with the learning rate.
	noiseGoal = 1.8
	// rateLimit is the learning rate without noise, for gradients of norm 1.
	rateLimit = 80
)

// NewSteps returns the steps of a run whose means have noise of the given standard
// deviation per coordinate, 0 for none, when gradients at the first model have Euclidean
// norm l2.
func NewSteps(noise, l2 float64, rounds int) Steps {
	rate := min(noiseGoal/(noise*l2*math.Sqrt(float64(rounds))), rateLimit/(l2*l2))
	return Steps{LearningRate: (1 - stepMomentum) * rate, Momentum: stepMomentum, Averaging: stepAveraging}
}
