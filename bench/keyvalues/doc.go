// Package keyvalues measures the errors of frequencies and means of key-value pairs. Use it
// to compare the mechanisms for such pairs on the papers' settings. Start with [Experiments];
// go run ./bench figs6-16 runs the largest of them.
//
// The papers are Wang et al., "Differentially Private Numerical Vector Analyses in the Local
// and Shuffle Model" (Figures 6 to 16), and Gu et al., "PCKV" (Figures 4 and 6 to 10).
//
// Estimates come from the real aggregators, except for a second reading of PrivKV. Collision, CoCo
// and SUCCINCT get the reports of their encoders. The others get counts that are drawn from the law of
// their reports. The tests compare this law with the encoders.
package keyvalues

import "github.com/hushgrad/hushgrad/bench/experiment"

const paper = `Wang et al., "Differentially Private Numerical Vector Analyses in the Local and Shuffle Model"`

// Experiments are the figures.
func Experiments() []experiment.Experiment {
	var out []experiment.Experiment
	for _, f := range figures {
		out = append(out, f.experiment())
	}
	out = append(out, together(), coefficients())
	for _, o := range []ofSingles{byEpsilon, byKeys, precisions, byAllocation} {
		out = append(out, o.experiment())
	}
	return experiment.OfPaper.All(append(out, onRatings())...)
}
