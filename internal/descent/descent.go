// Package descent moves a model along mean gradients: the optimizer, the average of the models, and what must be
// kept of them between two rounds. Use it where a training run is held, in one process or over many. Start with [New].
//
// It computes the same bits on all machines, as long as nobody changes the order of its operations.
package descent

import (
	"errors"
	"slices"
)

// Config says which steps are taken.
type Config struct {
	Optimizer OptimizerConfig
	// Averaging is the decay of the Average of the models, in [0, 1). 0 is the last model.
	Averaging float64
}

// Descent is a model on its way. The vectors are its own: they change with the next step, and are not to be
// changed by others. It is not safe for concurrent use.
type Descent struct {
	Params  []float64 // the last model
	Average []float64 // the model that counts: the first one before the first step

	config    Config
	before    []float64 // the model before the step
	optimizer *Optimizer
	averages  *Average
}

// New returns a descent from a model, which stays as it is. The error names the field that is out of range.
func New(c Config, params []float64) (*Descent, error) {
	d := &Descent{Params: slices.Clone(params), Average: slices.Clone(params), config: c}
	if err := CheckVector("params", params, len(params)); err != nil {
		return nil, err
	}
	var err error
	if d.optimizer, err = NewOptimizer(c.Optimizer, len(params)); err != nil {
		return nil, err
	}
	d.averages, err = NewAverage(len(params), c.Averaging)
	return d, err
}

// Step moves the model along a mean, which is left as it is, but for the coordinates that are named. check, if
// not nil, says whether the step is taken. A step that is not leaves the model and its average as they are, and the
// optimizer forgets its moments.
func (d *Descent) Step(mean []float64, check func(before, after []float64) (bool, error), suspects ...int) (taken bool, err error) {
	d.before = append(d.before[:0], d.Params...)
	if err := d.optimizer.Step(d.Params, without(mean, suspects)); err != nil {
		return false, err
	}
	taken = true
	if check != nil {
		if taken, err = check(d.before, d.Params); err != nil {
			return false, err
		}
		if !taken {
			copy(d.Params, d.before)
			if d.optimizer, err = NewOptimizer(d.config.Optimizer, len(d.Params)); err != nil {
				return false, err
			}
			if d.averages.weight > 0 {
				return false, nil // the average stays
			}
		}
	}
	return taken, errors.Join(d.averages.Add(d.Params), d.averages.Params(d.Average))
}

// without returns the mean with zeros where clients lie.
func without(mean []float64, suspects []int) []float64 {
	if len(suspects) == 0 {
		return mean
	}
	mean = slices.Clone(mean)
	for _, j := range suspects {
		if j >= 0 && j < len(mean) {
			mean[j] = 0
		}
	}
	return mean
}

// State is what must be kept to go on.
type State struct {
	Params []float64 // the last model
	// First and Second are the optimizer's moments, nil where it has none.
	First, Second []float64
	Steps         int       // that gave the moments
	Sum           []float64 // of the models, by age
	Weight        float64   // of the sum
}

// State returns what must be kept to go on. Its vectors are the descent's own.
func (d *Descent) State() State {
	return State{
		Params: d.Params, First: d.optimizer.first, Second: d.optimizer.second, Steps: d.optimizer.steps,
		Sum: d.averages.sum, Weight: d.averages.weight,
	}
}

// Resume returns the descent that had a state, which stays as it is. The error names the part of the state that
// no descent with this configuration has.
func Resume(c Config, s State) (*Descent, error) {
	d, err := New(c, s.Params)
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name string
		own  []float64
		kept []float64
	}{{"first moments", d.optimizer.first, s.First}, {"second moments", d.optimizer.second, s.Second}, {"sum", d.averages.sum, s.Sum}} {
		if err := checkMoments(v.name, v.kept, len(v.own)); err != nil {
			return nil, err
		}
		copy(v.own, v.kept)
	}
	if s.Steps < 0 {
		return nil, invalid("steps", s.Steps, "must be at least 0")
	}
	if !(s.Weight >= 0 && s.Weight <= MaxMagnitude) {
		return nil, invalid("weight", s.Weight, "must be finite and at least 0")
	}
	d.optimizer.steps, d.averages.weight = s.Steps, s.Weight
	if s.Weight > 0 {
		err = d.averages.Params(d.Average)
	}
	return d, err
}
