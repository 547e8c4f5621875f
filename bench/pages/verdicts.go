package pages

import (
	"fmt"
	"time"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// verdicts lists what was found about all claims of results, with all numbers.
func verdicts(in []*experiment.Record) (string, error) {
	g := newGrid("claim", "holds", "numbers")
	for _, r := range in {
		if len(r.Verdicts) == 0 {
			return "", fmt.Errorf("%s has no verdicts", r.Name)
		}
		for _, v := range r.Verdicts {
			g.add(experiment.GroupedText(v.Claim), emphasised(v), experiment.GroupedText(v.Numbers()))
		}
	}
	return g.String(), nil
}

// emphasised is the outcome, in bold letters where a claim does not hold.
func emphasised(v experiment.Decision) string {
	if outcome := v.Outcome(); outcome != "no" {
		return outcome
	}
	return "**no**"
}

// claims lists what papers claim, with our number and theirs.
func claims(in []*experiment.Record) (string, error) {
	g := newGrid("claim", "ours", "paper", "holds")
	for _, r := range in {
		n := 0
		for _, v := range r.Verdicts {
			if v.Paper == "" {
				continue
			}
			n++
			outcome := emphasised(v)
			if v.Unsettled != "" {
				outcome += ": " + v.Unsettled
			}
			g.add(v.Claim, v.Ours, v.Paper, outcome)
		}
		if n == 0 {
			return "", fmt.Errorf("%s has no claim of a paper", r.Name)
		}
	}
	return g.String(), nil
}

// tally counts how many of the papers' claims hold.
func tally(in []*experiment.Record) (string, error) {
	n := map[string]int{}
	for _, r := range in {
		for _, v := range r.Verdicts {
			if v.Paper != "" {
				n[""]++
				n[v.Outcome()]++
			}
		}
	}
	if n["yes"]+n["no"]+n["cannot be settled"] != n[""] || n[""] == 0 {
		return "", fmt.Errorf("of %d claims some are undecided: %v", n[""], n)
	}
	return fmt.Sprintf("Of %d claims %d hold, %d do not, and %d cannot be settled.\n", n[""], n["yes"], n["no"], n["cannot be settled"]), nil
}

// durations lists how long runs took.
func durations(in []*experiment.Record) (string, error) {
	g := newGrid("experiment", "time")
	for _, r := range in {
		if r.Seconds == 0 {
			return "", fmt.Errorf("%s has no time", r.Name)
		}
		g.add("`"+r.Name+"`", (time.Duration(r.Seconds) * time.Second).String())
	}
	return g.String(), nil
}
