package attack

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// attackLinked attacks every client with k reports of its own.
func attackLinked(likelihoods [][][]float64, labels []int, k int) experiment.Interval {
	hits := 0
	for i, own := range likelihoods {
		if guess(own[:k]) == labels[i] {
			hits++
		}
	}
	return experiment.ShareInterval(hits, len(labels))
}

// attackShuffled attacks every client with one report of each of k rounds. The attacker does
// not know their senders: client i is attacked with reports of the clients behind it, another
// one in every round.
func attackShuffled(likelihoods [][][]float64, labels []int, k int) experiment.Interval {
	hits, n := 0, len(labels)
	for i, label := range labels {
		var reports [][]float64
		for r := range k {
			sender := (i + 1 + r*7919%(n-1)) % n
			reports = append(reports, likelihoods[sender][r])
		}
		if guess(reports) == label {
			hits++
		}
	}
	return experiment.ShareInterval(hits, n)
}

// mostCommon is the share of the most common label: what a guess without reports reaches.
func mostCommon(labels []int, classes int) float64 {
	counts, most := make([]int, classes), 0
	for _, label := range labels {
		counts[label]++
		most = max(most, counts[label])
	}
	return float64(most) / float64(len(labels))
}

func (s setting) report(likelihoods [][][]float64, labels []int, classes int, note string) *experiment.Result {
	chance := mostCommon(labels, classes)
	r := &experiment.Result{
		Columns: []string{"reports", "epsilon_of_all", "label_found_linked", "linked_low", "linked_high", "label_found_shuffled", "shuffled_low", "shuffled_high", "label_guessed_without_reports"},
		Notes:   s.describe(note),
	}
	own := figure.Series{Name: "linked to their client", Style: figure.LinePoints}
	mixed := figure.Series{Name: "shuffled", Style: figure.LinePoints}
	blind := figure.Series{Name: "no reports: the most common label", Style: figure.Dashed}
	var last, lastMixed experiment.Interval
	for _, k := range linked {
		last, lastMixed = attackLinked(likelihoods, labels, k), attackShuffled(likelihoods, labels, k)
		r.Rows = append(r.Rows, experiment.Row{k, float64(k) * s.epsilon, last.Value, last.Low, last.High, lastMixed.Value, lastMixed.Low, lastMixed.High, chance})
		x := float64(k)
		own.Add(x, last.Value, last.Low, last.High)
		mixed.Add(x, lastMixed.Value, lastMixed.Low, lastMixed.High)
		blind.X, blind.Y = append(blind.X, x), append(blind.Y, chance)
	}
	k := linked[len(linked)-1]
	r.Verdicts = []experiment.Verdict{
		{
			Claim: fmt.Sprintf("a party that links %d reports of ε = %g to their client finds its label 9 times in 10", k, s.epsilon),
			Holds: last.Low > 0.9, Detail: fmt.Sprintf("%.3f [%.3f, %.3f]; one report: %.3f", last.Value, last.Low, last.High, attackLinked(likelihoods, labels, 1).Value),
		},
		{
			Claim: "shuffled reports do not lead to a client's label more often than the most common label does",
			Holds: lastMixed.Low <= chance, Detail: fmt.Sprintf("%.3f [%.3f, %.3f] against %.3f", lastMixed.Value, lastMixed.Low, lastMixed.High, chance),
		},
	}
	r.Plot = &figure.Figure{ErrorBars: experiment.ErrorBars, Panels: []figure.Panel{{
		XLabel: "reports of one client", YLabel: "share of clients whose label is found", LogX: true, YRange: [2]float64{0, 1},
		Series: []figure.Series{own, mixed, blind},
	}}}
	return r
}
