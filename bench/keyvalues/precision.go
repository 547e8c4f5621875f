package keyvalues

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// precisions is Figure 8: how many of the most frequent keys are found.
var precisions = ofSingles{number: 8, title: "precision of the most frequent keys", sweep: sweepPrecision, claims: claimsOfPrecision, settings: []string{"--repeats=20"}}

const mostKeys = 2000

func sweepPrecision(quick bool, clients int) sweep {
	s := sweep{
		sources:    allDims(clients, []int{100, 200, 500, 1000, mostKeys}),
		epsilons:   []float64{3, 5},
		rivals:     []rival{privkvmOne, kvue, pckvUE, pckvGRR},
		gauges:     []gauge{{precision, 10}, {precision, topKeys}},
		views:      []view{{title: "Gaussian, ε = 3", epsilon: 3, gauge: 0}, {title: "Gaussian, ε = 5", epsilon: 5, gauge: 1}},
		againstDim: true,
		notes:      []string{"PrivKVM's frequencies do not depend on its iterations, so that it has one curve."},
	}
	if quick {
		s.sources = allDims(clients, []int{100, mostKeys})
	}
	return s
}

// claimsOfPrecision are the numbers of the text, for the largest number of keys.
func claimsOfPrecision(_ *sweep, points []*point) (out []experiment.Verdict) {
	for _, c := range []struct {
		rival     rival
		gauge     int
		epsilon   float64
		low, high float64
		said      string
		quote     string
	}{
		{pckvUE, 0, 3, 0.6, 1, "over 60 %", "the precision of PCKV-UE is over 60% even for a"},
		{privkvmOne, 0, 3, 0, 0.2, "almost none", "PrivKVM and KVUE incorrectly select almost all top 10 […]"},
		{kvue, 0, 3, 0, 0.2, "almost none", "PrivKVM and KVUE incorrectly select almost all top 10 […]"},
		{pckvUE, 1, 5, 0.925, 0.975, "95 %", "PCKV-UE and PCKV-GRR can correctly estimate 95% and 85% respectively"},
		{pckvGRR, 1, 5, 0.825, 0.875, "85 %", "PCKV-UE and PCKV-GRR can correctly estimate 95% and 85% respectively"},
	} {
		p := find(points, string(gaussianLaw), mostKeys, c.epsilon, c.rival.label)
		value := p.value(c.gauge)
		out = append(out, experiment.Verdict{
			Claim:   fmt.Sprintf("Figure 8: %s finds %s of the top %d keys of %d at ε = %g", c.rival.label, c.said, []int{10, topKeys}[c.gauge], mostKeys, c.epsilon),
			Section: overall, Quote: c.quote,
			Criterion: fmt.Sprintf("%g to %g %%", 100*c.low, 100*c.high),
			Holds:     value.Value >= c.low && value.Value <= c.high,
			Ours:      percent(value),
		})
	}
	return out
}
