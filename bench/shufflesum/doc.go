// Package shufflesum holds the experiments of Dong, Luo, Fanti, Yi, Shi,
// "Instance-optimal Clipping for Summation Problems in the Shuffle Model of
// Differential Privacy" (2024), with the mechanisms of package hdsum.
//
// All of them simulate whole populations: the total noise of every instance is
// drawn once, which has the same law as separate clients.
package shufflesum

import "github.com/hushgrad/hushgrad/bench/experiment"

const paper = `Dong, Luo, Fanti, Yi, Shi, "Instance-optimal Clipping for Summation Problems in the Shuffle Model of Differential Privacy" (2024)`

// Experiments are the tables and figures of the paper.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{table3(), table4(), table5(), fig3(), fig4(), fig5()}
}
