// Package keyvalues holds the experiments on frequencies and means of key-value
// pairs: Wang et al., "Differentially Private Numerical Vector Analyses in the Local
// and Shuffle Model", Figures 6 to 16, where every number goes through the real encoders
// and aggregators, and Gu et al., "PCKV", Figure 9.
package keyvalues

import "github.com/hushgrad/hushgrad/internal/experiment"

const paper = `Wang et al., "Differentially Private Numerical Vector Analyses in the Local and Shuffle Model"`

// Experiments are the figures.
func Experiments() []experiment.Experiment {
	var out []experiment.Experiment
	for _, f := range figures {
		out = append(out, f.experiment())
	}
	return append(out, allocations())
}
