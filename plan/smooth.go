package plan

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
)

// Smooth is what is public about a convex loss whose second derivative is bounded, as of linear models of columns with a known spread.
//
// Steps follow from it. All rounds together move the model along a gradient by the step η. Its loss then is above the least by at most Norm²/4η
// for what has not been learnt, and by at most noise²·η/4 for the noise, whatever the second derivatives are. Both are equal for η =
// Norm/noise. Where noise is large the model stays near the first one. Along its gradient g the loss then falls by ‖g‖²·η, and ‖g‖² is at most 2h·Loss
// with the second derivative h. Noise raises the loss by h·noise²·η²/2. The sum is least for η = 2·Loss/noise². The smaller of the two η is taken, and each round has its share. Curvature
// limits the learning rate, and momentum makes up for it.
//
// A clip leaves a share of each gradient, the slope. It has the same effect as a loss that is multiplied by it: Curvature and Loss are.
type Smooth struct {
	// Curvature is the largest second derivative of the mean loss along a direction.
	Curvature float64
	// Norm is a guess of the L2 norm of the best model.
	Norm float64
	// Loss is a guess of how much larger the loss of the first model is than the least.
	Loss float64
	// Chances says that predictions are chances, as of logistic and softmax regression. A short clip makes them too sure, so the clip
	// is the longest that leaves nearly all of the signal. Without it the clip has the least noise. That suits squared loss: a
	// short clip lets rare large errors count less.
	Chances bool
}

// Rounds of a smooth loss where they are not planned. Rounds without privacy have no noise, and more of them come nearer to the best model.
// Clients that report once have as much noise in any number of rounds, and the columns of a table may need some.
const (
	bareSmooth     = 240 // without privacy
	disjointSmooth = 48  // with clients that report once
)

// mostMomentum keeps the memory of steps at ten rounds.
const mostMomentum = 0.9

// nearSlope is how much larger the slope counts near the best model, where gradients are shorter and less of them is clipped: twice as large where errors are half as large.
const nearSlope = 2

func (s *Smooth) validate() error {
	switch {
	case s == nil:
		return nil
	case !(s.Curvature > 0 && s.Curvature <= largestRate):
		return fl.Invalid("curvature", s.Curvature, "must be in (0, %g]", largestRate)
	case !(s.Norm > 0 && s.Norm <= largestNorm):
		return fl.Invalid("norm", s.Norm, "must be in (0, %g]", largestNorm)
	case !(s.Loss > 0 && s.Loss <= largestNorm):
		return fl.Invalid("loss", s.Loss, "must be in (0, %g]", largestNorm)
	}
	return nil
}

// steps are for means whose noise over the whole run has an L2 norm, 0 for none. slope is the share of the first gradient that the clip leaves. excess is the most that
// the loss of the model then is above the least.
func (s *Smooth) steps(noise, slope float64, rounds int) (_ Steps, excess float64) {
	near := min(1, nearSlope*slope)
	most := 1 / (s.Curvature * near)
	whole := min(s.Norm/noise, 2*slope*s.Loss/(noise*noise)) / float64(rounds)
	momentum := min(max(stepMomentum, 1-most/whole), mostMomentum)
	rate := min(most, whole*(1-momentum))
	all := rate / (1 - momentum) * float64(rounds)
	return Steps{LearningRate: rate, Momentum: momentum, Averaging: max(stepAveraging, momentum)},
		min(s.Norm*s.Norm/(4*near*all), s.Loss) + noise*noise*all/(4*near)
}

// Steps returns the steps of a number of rounds whose noise over the whole run has an L2 norm, 0 for none. slope is the share of the first gradient that the clip
// leaves, 1 without a clip.
func (s *Smooth) Steps(noise, slope float64, rounds int) Steps {
	steps, _ := s.steps(noise, slope, rounds)
	return steps
}

func (s *Smooth) String() string {
	return fmt.Sprintf("The loss has a second derivative of at most %.3g, its best model a norm of about %.3g, and the first model a loss of about %.3g more: what all rounds move along a gradient is the norm over the L2 norm of the run's noise. Where noise is large it is twice that loss, times the slope, over the noise's square. It is no more than momentum allows. Twice as many rounds must promise a loss that is smaller by %g.", s.Curvature, s.Norm, s.Loss, worthwhileLoss)
}

// smoothSteps plans the steps of a smooth loss. For sums with Gaussian noise sumSteps plans them.
func (run *Run) smoothSteps(q Request) {
	switch {
	case q.Smooth == nil:
	case run.Schedule != nil:
		best := run.Schedule.Considered[0]
		run.Steps, run.excess = q.Smooth.steps(best.NoiseOfRun*math.Sqrt(float64(run.Dim)), orWhole(best.Slope), run.Rounds)
	case q.Mechanism == baseline.None:
		run.Steps, run.excess = q.Smooth.steps(0, 1, run.Rounds)
	}
}

// orWhole is a slope, and 1 where it is not known: steps are shortest then.
func orWhole(slope *float64) float64 {
	if slope == nil || !(*slope > 0) {
		return 1
	}
	return *slope
}
