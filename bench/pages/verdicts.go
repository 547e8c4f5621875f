package pages

import (
	"fmt"
	"strings"
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

// draws is how many draws of the data have to agree on a claim of a paper.
const draws = 5

// claims lists what papers claim: where, in which words, what counts, and our number.
func claims(in []*experiment.Record) (string, error) {
	g := newGrid("claim", "the paper", "criterion", "ours", "holds")
	for _, r := range in {
		n := 0
		for _, v := range r.Verdicts {
			if v.Section == "" {
				continue
			}
			n++
			if v.Draws == nil && strings.Contains(r.Command, "--seed ") || v.Draws != nil && v.Draws.Of < draws {
				return "", fmt.Errorf("%s has fewer than %d draws: %s", r.Name, draws, v.Claim)
			}
			outcome := emphasised(v)
			if v.Missing != "" {
				outcome += ": " + v.Missing
				if v.Draws != nil {
					outcome += fmt.Sprintf("; on a stand-in it holds in %d of %d draws", v.Draws.Held, v.Draws.Of)
				}
			}
			g.add(v.Claim, fmt.Sprintf("%s: “%s”", v.Section, v.Quote), v.Criterion, v.Ours, outcome)
		}
		if n == 0 {
			return "", fmt.Errorf("%s has no claim of a paper", r.Name)
		}
	}
	return g.String(), nil
}

// own lists claims that no paper makes.
func own(in []*experiment.Record) (string, error) {
	g := newGrid("claim of ours", "criterion", "ours", "holds")
	n := 0
	for _, r := range in {
		for _, v := range r.Verdicts {
			if v.Section == "" {
				n++
				g.add(v.Claim, v.Criterion, v.Ours, emphasised(v))
			}
		}
	}
	if n == 0 {
		return "", fmt.Errorf("no claim is ours")
	}
	return g.String(), nil
}

// tally counts how many of the papers' claims hold.
func tally(in []*experiment.Record) (string, error) {
	n, all := map[string]int{}, 0
	for _, r := range in {
		for _, v := range r.Verdicts {
			if v.Section != "" {
				kind, _, _ := strings.Cut(v.Outcome(), " (")
				all++
				n[kind]++
			}
		}
	}
	settled := n["yes"] + n["no"] + n[experiment.DependsOnDraw] + n[experiment.DependsOnReading] + n[experiment.CannotBeSettled]
	if settled != all || all == 0 {
		return "", fmt.Errorf("of %d claims some are undecided: %v", all, n)
	}
	return fmt.Sprintf("Of the paper's %d claims %d hold, %d do not, %d depend on the draw, %d depend on the reading of the text, and %d cannot be settled without the paper's data.\n",
		all, n["yes"], n["no"], n[experiment.DependsOnDraw], n[experiment.DependsOnReading], n[experiment.CannotBeSettled]), nil
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
