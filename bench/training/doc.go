// Package training holds experiments that train a model with the real mechanisms,
// clients and server in one process and without a network.
package training

import "github.com/hushgrad/hushgrad/bench/experiment"

// Experiments are what this package can run.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{tiersExperiment(), accuracyExperiment()}
}
