// Package demands compares estimators of a histogram or of a mean for clients with different
// privacy demands. Use it to see which weights suit which dependence of demands on data. Start
// with [Experiments]; the commands are go run ./bench table4-hetero and table5-hetero.
//
// The paper is Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation Under
// Heterogeneous Privacy: A Worst-Case Analysis". As there, data and demands are drawn once, and
// only the mechanism is repeated; without correlation every repeat also permutes the data over
// the clients. We do that for several data sets of each law, because the smallest and the
// largest ε of the draw decide some of the errors.
package demands

import "github.com/hushgrad/hushgrad/bench/experiment"

const paper = `Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation Under Heterogeneous Privacy: A Worst-Case Analysis"`

// Experiments are what this package can run.
func Experiments() []experiment.Experiment {
	return append(experiment.OfPaper.All(table4(), table5()), own())
}
