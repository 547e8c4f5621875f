// Package histograms compares estimators of a histogram for clients with different privacy
// demands. Use it to see which weights suit which dependence of demands on data. Start
// with [Experiments]; the command is go run ./bench table4-hetero.
//
// The paper is Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation Under
// Heterogeneous Privacy: A Worst-Case Analysis". The rows are the synthetic ones of Table 4.
package histograms

import "github.com/hushgrad/hushgrad/bench/experiment"

// Experiments are what this package can run.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{table4()}
}
