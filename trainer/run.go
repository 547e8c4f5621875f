package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/descent"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Rounds is where a training run gets its means from: a server and its clients over a
// network, a [Simulation] in one process, or something of the caller's own.
type Rounds interface {
	// Mean holds round number round, from 0. Clients compute their gradients at params, and
	// the result is the estimate of the mean gradient. params is the caller's: Mean
	// neither changes nor keeps it.
	Mean(ctx context.Context, round int, params []float64) (*fl.Estimate, error)
}

// Steps is what the server does with the mean gradients: which step it takes along each,
// and how it averages the models that it passes through.
type Steps struct {
	Optimizer OptimizerConfig
	// Averaging is the decay of the Average of the models, in [0, 1). The average is the
	// model that counts: it has less noise than the last one. 0 is the last model.
	Averaging float64
}

// Momentum returns the steps of momentum SGD. Momentum 0 is plain SGD.
func Momentum(learningRate, momentum, averaging float64) Steps {
	return Steps{Optimizer: OptimizerConfig{Name: "momentum", LearningRate: learningRate, Momentum: momentum}, Averaging: averaging}
}

// RunConfig says how long a training run is and what the server does.
type RunConfig struct {
	// Rounds is the number of rounds, at least 1.
	Rounds int
	// Held is the number of rounds that were held before, about something else than gradients: the first round of the run has this number.
	Held int
	// Steps is what the server does with each mean.
	Steps Steps
	// Choose, if not nil, chooses the Steps of the whole run after the first round, and the
	// field Steps is not read. noise is the root mean square of the standard errors of the
	// first mean, in units of the gradient, and 0 where the estimate has none. Standard
	// errors are released with the mean, so the choice costs no privacy.
	Choose func(noise float64) Steps
	// Check, if not nil, says whether a step is taken: see StepCheck. A step that is not leaves the model and its average as they are,
	// and the optimizer forgets its moments.
	Check func(before, after []float64) (bool, error)
	// Suspects, if not nil, names coordinates of a round's mean that its step leaves out, beside fl.Estimate.Suspects: see PublicAlarm. params is the
	// model of the round.
	Suspects func(ctx context.Context, params []float64, e *fl.Estimate) ([]int, error)
	// After, if not nil, is called after each round: to measure the model, to print, to
	// account. An error ends the run; ErrStop ends it without one.
	After func(Progress) error
}

// Progress is where a run stands after a round. The vectors are the run's own: they are
// valid until After returns, and not to be changed.
type Progress struct {
	Round    int // from RunConfig.Held on
	Estimate *fl.Estimate
	Params   []float64 // the last model, at which the next round's clients train
	Average  []float64 // the model that counts
	// Suspects are the coordinates that RunConfig.Suspects has named. The ones that are proved are in Estimate.
	Suspects []int
	// Refused says that RunConfig.Check has refused the round's step.
	Refused bool
	// Lost says that the means of the last rounds cannot be distinguished from their noise: of a quarter of RunConfig.Rounds, and at least
	// three. The rounds then teach the model nothing that shows.
	Lost bool
	// Found says that the means of the first rounds, as many, stood out of their noise. That Lost comes after Found is usual where a model has
	// learned: its gradients become short.
	Found bool
}

// ErrStop is what RunConfig.After returns to end the run early with the model that it has.
var ErrStop = errors.New("trainer: stop")

// Run trains a model. In each round it asks for the mean gradient at the current model,
// takes a step and averages the models. It returns the average, and leaves params, the first
// model, as it is. A step leaves out the coordinates at which clients lie: see fl.Estimate.Suspects, and RunConfig.Suspects.
//
// It needs no data: what clients hold is the business of rounds. The error names the field
// of c that is out of range, or the round that failed, from 1.
//
// O(d) per round beside the round itself.
func Run(ctx context.Context, rounds Rounds, params []float64, c RunConfig) ([]float64, error) {
	if c.Rounds < 1 {
		return nil, invalid("rounds", c.Rounds, "must be at least 1")
	}
	if c.Held < 0 {
		return nil, invalid("held", c.Held, "must be at least 0")
	}
	r := &run{RunConfig: c, params: params}
	if c.Choose == nil {
		if err := r.start(c.Steps); err != nil {
			return nil, err
		}
	}
	for i := c.Held; i < c.Held+c.Rounds; i++ {
		err := ctx.Err()
		if err == nil {
			err = r.round(ctx, rounds, i)
		}
		if errors.Is(err, ErrStop) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("trainer: round %d: %w", i+1, err)
		}
	}
	if r.model == nil { // Choose was not asked
		return slices.Clone(params), nil
	}
	return r.model.Average, nil
}

// run is the state of a training run.
type run struct {
	RunConfig
	params []float64        // the first model
	model  *descent.Descent // nil until the steps are known
	first  []evidence       // of the first rounds, at most lostRounds()
	lately []evidence       // of the last rounds, as many
}

// start begins the descent, once the steps are known.
func (r *run) start(s Steps) (err error) {
	defer prefix.Error(&err, "trainer")
	r.model, err = descent.New(descent.Config{Optimizer: descent.OptimizerConfig(s.Optimizer), Averaging: s.Averaging}, r.params)
	return err
}

// at is the last model.
func (r *run) at() []float64 {
	if r.model == nil {
		return r.params
	}
	return r.model.Params
}

func (r *run) round(ctx context.Context, rounds Rounds, i int) error {
	estimate, err := rounds.Mean(ctx, i, r.at())
	if err != nil {
		return err
	}
	if estimate == nil {
		return invalid("estimate", nil, "must be there when there is no error")
	}
	var suspects []int
	if r.Suspects != nil {
		if suspects, err = r.Suspects(ctx, r.at(), estimate); err != nil {
			return err
		}
	}
	if r.model == nil {
		if err := r.start(r.Choose(noiseOf(estimate))); err != nil {
			return err
		}
	}
	taken, err := r.model.Step(estimate.Mean().Value, r.Check, slices.Concat(estimate.Suspects, suspects)...)
	if err != nil {
		return err
	}
	if r.After == nil {
		return nil
	}
	seen, enough := evidenceOf(estimate), r.lostRounds()
	if len(r.first) < enough {
		r.first = append(r.first, seen)
	}
	r.lately = append(r.lately, seen)
	r.lately = r.lately[max(0, len(r.lately)-enough):]
	return r.After(Progress{
		Round: i, Estimate: estimate, Params: r.model.Params, Average: r.model.Average, Suspects: suspects, Refused: !taken,
		Lost: lost(r.lately, enough), Found: found(r.first, enough),
	})
}

// noiseOf is the root mean square error of a coordinate, 0 where it is not known. It is not the root mean square
// of the standard errors. Standard errors are widened for single coordinates of small rounds.
func noiseOf(e *fl.Estimate) float64 {
	if math.IsNaN(e.NoiseNorm) {
		return 0
	}
	return e.NoiseNorm / math.Sqrt(float64(len(e.Mean().Value)))
}
