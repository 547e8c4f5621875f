package shufflesum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// comparison is a claim about SumDP beside central DP, as measured and as the paper prints it.
func comparison(readings [][]measuredColumn, theirs bool, claim, quote, criterion string, holds func(ratios []float64) bool) experiment.Verdict {
	var held []bool
	var parts []string
	for _, columns := range readings {
		var ratios []float64
		better := 0
		for _, m := range columns {
			central := m.errors[centralName].Value
			if theirs {
				central = m.column.errors[3]
			}
			ratio := m.errors[sumDPName].Value / central
			if ratio < 1 {
				better++
			}
			ratios = append(ratios, ratio)
		}
		held = append(held, holds(ratios))
		parts = append(parts, fmt.Sprintf("better in %d of %d, %.2g to %.2g times the error", better, len(columns), slices.Min(ratios), slices.Max(ratios)))
	}
	return inReadings(experiment.Verdict{Claim: claim, Section: sums, Quote: quote, Criterion: criterion, Ours: parts[0], Detail: "in each reading of Gauss: " + strings.Join(parts, "; ")}, held...)
}

func similarToCentral(readings [][]measuredColumn, what string) experiment.Verdict {
	return comparison(readings, false, fmt.Sprintf("Table 3, %s: SumDP's error is similar to central DP's", what), "attains error levels similar to the gold standard",
		"at most 3.2 times in every column, the most in the paper's own table", func(ratios []float64) bool { return slices.Max(ratios) <= 3.2 })
}

// half says whether SumDP is better in a quarter to three quarters of the columns.
func half(ratios []float64) bool {
	better := 0
	for _, r := range ratios {
		if r < 1 {
			better++
		}
	}
	return 4*better >= len(ratios) && 4*better <= 3*len(ratios)
}

const halfQuote, halfCriterion = "produces even smaller errors in about half of the cases", "in a quarter to three quarters of the columns"

func betterThanCentral(readings [][]measuredColumn, what string) experiment.Verdict {
	return comparison(readings, false, fmt.Sprintf("Table 3, %s: SumDP is better than our central DP in about half of the columns", what), halfQuote, halfCriterion, half)
}

func betterThanTheirs(readings [][]measuredColumn, what string) experiment.Verdict {
	return comparison(readings, true, fmt.Sprintf("Table 3, %s: SumDP is better than the paper's central DP in about half of the columns", what), halfQuote, halfCriterion, half)
}

// goldStandard compares the errors of central DP. The paper's bound is in between the two of ours.
func goldStandard(readings [][]measuredColumn) experiment.Verdict {
	var held []bool
	var parts, ours, theirs []string
	for _, columns := range readings {
		inside := 0
		theirs = nil
		for _, m := range columns {
			low, high, paper := m.errors[lowerName].Value, m.errors[centralName].Value, m.column.errors[3]
			if low/slack <= paper && paper <= slack*high {
				inside++
			}
			parts = append(parts, fmt.Sprintf("%s %.3g to %.3g %%, the paper's %.3g %%", m.name, low, high, paper))
			theirs = append(theirs, fmt.Sprintf("%.3g%%", paper))
		}
		held = append(held, inside == len(columns))
		ours = append(ours, fmt.Sprintf("%d of %d", inside, len(columns)))
	}
	return inReadings(experiment.Verdict{
		Claim:   "Table 3, simulated data: central DP has the paper's errors",
		Section: inTable3, Quote: strings.Join(theirs, ", "),
		Criterion: fmt.Sprintf("between the errors for the two bounds on τ, %g times more or less", slack),
		Ours:      strings.Join(ours, " or ") + " columns",
		Detail:    strings.Join(parts, "; "),
	}, held...)
}
