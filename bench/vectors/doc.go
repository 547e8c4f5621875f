// Package vectors holds experiments of Wang et al., "Differentially Private Numerical
// Vector Analyses in the Local and Shuffle Model", that need no data: exact errors
// and privacy bounds.
package vectors

import "github.com/hushgrad/hushgrad/bench/experiment"

const paper = `Wang et al., "Differentially Private Numerical Vector Analyses in the Local and Shuffle Model"`

// Experiments are the figures.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{fig2(), fig5()}
}
