// Package shufflesum measures the errors of sums in the shuffle model. Use it to compare the
// mechanisms of package hdsum on a paper's settings. Start with [Experiments]; go run ./bench
// table3 is the main table.
//
// The paper is Dong, Luo, Fanti, Yi, Shi, "Instance-optimal Clipping for Summation Problems in
// the Shuffle Model of Differential Privacy" (2024).
//
// All experiments simulate whole populations. The total noise of every instance is drawn
// once. It has the same law as the noise of separate clients.
package shufflesum

import "github.com/hushgrad/hushgrad/bench/experiment"

const paper = `Dong, Luo, Fanti, Yi, Shi, "Instance-optimal Clipping for Summation Problems in the Shuffle Model of Differential Privacy" (2024)`

// Experiments are the tables and figures of the paper.
func Experiments() []experiment.Experiment {
	return append(experiment.OfPaper.All(table3(), table4(), table5(), fig3().experiment(), fig4().experiment(), fig5().experiment(), reals()), sparVecSum())
}
