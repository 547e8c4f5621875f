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
)

// stepRule is where a learning rate ends.
type stepRule struct {
	// noiseGoal is the standard deviation that the noise of a whole run may give a
	// logit: signal and noise of the model both grow with the learning rate.
	noiseGoal float64
	// rateLimit is the learning rate without noise, for gradients of norm 1.
	rateLimit float64
	// origin says on what the constants were found.
	origin string
}

// Those for centred features, which all have the same norm, or nearly, around a public centre, were found on
// generated digits alone. What all examples share then takes no part of the gradients: larger steps are stable, and
// the model learns more from less noise. Features in another unit have the same model by either rule: with
// all of them multiplied by c, noise and the norm of gradients are, and the rate is divided by c².
var (
	plainSteps   = stepRule{noiseGoal: 1.8, rateLimit: 80, origin: "first found on training pictures of MNIST. A search on generated digits alone confirms them"}
	centredSteps = stepRule{noiseGoal: 1, rateLimit: 640, origin: "first found on training pictures of MNIST, but noise and rate on generated digits alone"}
)

// stepsFor is the rule for features with or without a public centre.
func stepsFor(centred bool) stepRule {
	if centred {
		return centredSteps
	}
	return plainSteps
}

// Steps returns the steps of a run whose means have noise of the given standard deviation per coordinate, 0 for none, and
// whose gradients are not clipped much.
func (t Training) Steps(noise float64) Steps { return stepsFor(t.Centred).steps(noise, t.L2, t.Rounds) }

// clipped is the rule where gradients are clipped to a share of their norm: sums of shorter gradients
// are stable at larger rates.
func (r stepRule) clipped(share float64) stepRule {
	r.rateLimit *= max(1, 1/(3*share))
	return r
}

func (r stepRule) steps(noise, l2 float64, rounds int) Steps {
	rate := min(r.noiseGoal/(noise*l2*math.Sqrt(float64(rounds))), r.rateLimit/(l2*l2))
	return Steps{LearningRate: (1 - stepMomentum) * rate, Momentum: stepMomentum, Averaging: stepAveraging}
}
