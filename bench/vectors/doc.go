// Package vectors computes exact errors and privacy bounds of the mechanisms for sparse
// vectors, and measures what their error bars cover. Use it to check them against a paper's
// figures and our claims, without any data. Start with [Experiments]; go run ./bench fig2
// draws the bounds.
//
// The paper is Wang et al., "Differentially Private Numerical Vector Analyses in the Local
// and Shuffle Model".
package vectors

import "github.com/hushgrad/hushgrad/bench/experiment"

const paper = `Wang et al., "Differentially Private Numerical Vector Analyses in the Local and Shuffle Model"`

// exact are the flags that computations without data and randomness are without.
var exact = []string{experiment.FlagData, experiment.FlagRepeats, experiment.FlagSeed}

// Experiments are what this package can run.
func Experiments() []experiment.Experiment {
	return append(experiment.OfPaper.All(fig2(), fig4(), fig5()), coverage(), minimax())
}
