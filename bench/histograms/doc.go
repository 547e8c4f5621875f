// Package histograms holds the experiment on histograms of users with different
// privacy demands: Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation Under
// Heterogeneous Privacy: A Worst-Case Analysis", the synthetic rows of Table 4.
package histograms

import "github.com/hushgrad/hushgrad/bench/experiment"

// Experiments are what this package can run.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{table4()}
}
