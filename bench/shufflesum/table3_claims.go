package shufflesum

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// measuredColumn is a column with the errors of the mechanisms in percent, each the mean of groups
// of repeats, and SumDP's errors on other draws of the data in ascending order.
type measuredColumn struct {
	column
	groups   int
	errors   map[string]experiment.Interval
	messages map[string]float64
	spread   []float64
}

// slack is by how much an error may exceed the paper's and still be counted as the
// same: the paper's mean of 12 Laplace errors has a spread of about 20 %.
const slack = 1.5

// table3Claims are what the paper says about Table 3. Without numbers of the paper there is only a
// comparison.
func table3Claims(found []measuredColumn) []experiment.Verdict {
	if found[0].column.errors == nil {
		return []experiment.Verdict{found[0].ahead()}
	}
	var real []measuredColumn
	readings := map[outside][]measuredColumn{}
	for _, m := range found {
		if m.isStandIn {
			real = append(real, m)
			continue
		}
		for _, other := range []outside{discarded, clamped} {
			if m.fits(other) {
				readings[other] = append(readings[other], m)
			}
		}
	}
	simulated := [][]measuredColumn{readings[clamped], readings[discarded]}
	var out []experiment.Verdict
	for _, ask := range []func(columns [][]measuredColumn, what string) experiment.Verdict{
		func(c [][]measuredColumn, what string) experiment.Verdict {
			return below(c, what, 2, "consistently maintains an error below 2% across all eight tests", nil)
		},
		func(c [][]measuredColumn, what string) experiment.Verdict {
			return below(c, what, 0.2, "further reducing it to below 0.2% in seven cases", []string{zipf(3).name})
		},
		largestGain, similarToCentral, betterThanCentral, betterThanTheirs,
	} {
		out = append(out, ask(simulated, simulatedData))
		if v := ask([][]measuredColumn{real}, realData); !strings.Contains(v.Claim, onlySimulated) {
			v.Missing = noAccount
			v.Ours = "on stand-ins " + v.Ours
			out = append(out, v)
		}
	}
	out = append(out, tradeGain(real), notSingle(found), fewerMessages(found))
	for i, m := range readings[clamped] {
		out = append(out, settled(m.base(), m.drawn(), readings[discarded][i].drawn()), settled(m.base(), m.sameRivals(), readings[discarded][i].sameRivals()))
	}
	for _, m := range real {
		out = append(out, m.standsIn())
	}
	return append(out, allRuns(found, 1), allRuns(found, 2), goldStandard(simulated), sameMessages(found))
}

const (
	simulatedData = "simulated data"
	realData      = "real data"
	// onlySimulated marks a claim whose maximum is in a simulated column.
	onlySimulated = "up to 3000 times"
	noAccount     = "the data need an account, and the stand-ins have only their n, U and largest input"
)

// fits says whether a column belongs to a reading of normal variables outside of {1, …, U}, which the paper leaves
// open.
func (m measuredColumn) fits(reading outside) bool {
	other := clamped
	if reading == clamped {
		other = discarded
	}
	return !strings.HasSuffix(m.name, ", "+other.String())
}

// base is the name without the reading.
func (m measuredColumn) base() string {
	name, _, _ := strings.Cut(m.name, ", ")
	return name
}

// settled makes one verdict of two, for variables that are clamped and for those that are discarded. They are the
// same for data without such variables.
func settled(name string, first, second experiment.Verdict) experiment.Verdict {
	v := first
	v.Claim = "Table 3, " + name + ": " + first.Claim
	if first.Ours == second.Ours {
		return v
	}
	v.Ours = first.Ours + "; " + second.Ours
	v.Detail = fmt.Sprintf("clamped: %s; discarded: %s", first.Detail, second.Detail)
	return inReadings(v, first.Holds, second.Holds)
}

// inReadings is the outcome over readings.
func inReadings(v experiment.Verdict, held ...bool) experiment.Verdict {
	v.Readings.Of, v.Holds = len(held), true
	for _, h := range held {
		v.Holds = v.Holds && h
		if h {
			v.Readings.Held++
		}
	}
	return v
}

// rivals are the errors of GKMPS and BBGN, the smaller one first.
func (m measuredColumn) rivals() (smaller, larger experiment.Interval) {
	g, b := m.errors["GKMPS"], m.errors["BBGN"]
	if g.Value < b.Value {
		return g, b
	}
	return b, g
}

// ahead is a claim of ours about values that are not the paper's.
func (m measuredColumn) ahead() experiment.Verdict {
	rival, _ := m.rivals()
	ratio := times(rival, m.errors[sumDPName])
	return experiment.Verdict{Claim: m.name + ": SumDP is more accurate than GKMPS and BBGN", Holds: ratio.Low > 1, Ours: writtenTimes(ratio)}
}

// below claims that SumDP's error is below a limit in all columns but some.
func below(readings [][]measuredColumn, what string, percent float64, quote string, exceptions []string) experiment.Verdict {
	var held []bool
	var over []string
	n := 0
	for _, columns := range readings {
		fits := true
		for _, m := range columns {
			e := m.errors[sumDPName]
			if slices.Contains(exceptions, m.name) {
				continue
			}
			n++
			if e.Value >= percent {
				fits = false
				over = append(over, fmt.Sprintf("%s %s", m.name, written(e)))
			}
		}
		held = append(held, fits)
	}
	v := experiment.Verdict{
		Claim:   fmt.Sprintf("Table 3, %s: SumDP's error is below %g %%", what, percent),
		Section: sums, Quote: quote,
		Criterion: fmt.Sprintf("below %g %% in every column", percent),
		Ours:      fmt.Sprintf("in %d of %d, both readings of Gauss counted", n-len(over), n),
	}
	if what == realData {
		v.Ours = fmt.Sprintf("in %d of %d", n-len(over), n)
	}
	if len(exceptions) > 0 && what == simulatedData {
		v.Criterion += " but " + strings.Join(exceptions, ", ") + ", the paper's exception"
	}
	if len(over) > 0 {
		v.Detail = "not for " + strings.Join(over, ", ")
	}
	return inReadings(v, held...)
}

// largestGain is the paper's largest factor, which its table has for Gauss μ=5 σ=5.
func largestGain(readings [][]measuredColumn, what string) experiment.Verdict {
	var held []bool
	var parts []string
	for _, columns := range readings {
		var most experiment.Interval
		where := ""
		for _, m := range columns {
			_, rival := m.rivals()
			if ratio := times(rival, m.errors[sumDPName]); ratio.Value > most.Value {
				most, where = ratio, m.name
			}
		}
		held = append(held, most.Value >= 3000/slack && most.Value <= 3000*slack)
		parts = append(parts, fmt.Sprintf("%s (%s)", writtenTimes(most), where))
	}
	return inReadings(experiment.Verdict{
		Claim:   fmt.Sprintf("Table 3, %s: SumDP is %s more accurate than GKMPS or BBGN", what, onlySimulated),
		Section: sums, Quote: "improvement over GKMPS and BBGN can be up to 3000×",
		Criterion: fmt.Sprintf("%.0f to %.0f times at most over the columns", 3000/slack, 3000*slack),
		Ours:      parts[0], Detail: strings.Join(parts, "; "),
	}, held...)
}

// notSingle is the claim that neither SumDP nor GKMPS sends one message in all columns. Messages do not depend on the
// data.
func notSingle(found []measuredColumn) experiment.Verdict {
	least := math.Inf(1)
	for _, m := range found {
		least = min(least, m.messages[sumDPName], m.messages["GKMPS"])
	}
	return experiment.Verdict{
		Claim:   "Table 3: SumDP and GKMPS send more than one message per client",
		Section: sums, Quote: "neither SumDP nor GKMPS achieves […] single-message communication per user",
		Criterion: "more than 2 messages in every column", Holds: least > 2, Ours: fmt.Sprintf("at least %.0f", least),
	}
}

// fewerMessages is the claim that SumDP needs much fewer messages than GKMPS.
func fewerMessages(found []measuredColumn) experiment.Verdict {
	least := math.Inf(1)
	for _, m := range found {
		least = min(least, m.messages["GKMPS"]/m.messages[sumDPName])
	}
	return experiment.Verdict{
		Claim:   "Table 3: SumDP sends much fewer messages than GKMPS",
		Section: sums, Quote: "SumDP requires much fewer messages than GKMPS",
		Criterion: "at most a tenth in every column", Holds: least >= 10, Ours: fmt.Sprintf("GKMPS at least %.0f times as many", least),
	}
}

// tradeGain is the claim about JP-Trad, the last real column.
func tradeGain(real []measuredColumn) experiment.Verdict {
	m := real[len(real)-1]
	rival, _ := m.rivals()
	ratio := times(rival, m.errors[sumDPName])
	return experiment.Verdict{
		Claim:   "Table 3, JP-Trad: SumDP is more than 40 times more accurate than GKMPS and BBGN",
		Section: sums, Quote: "surpasses GKMPS and BBGN by more than 40×",
		Criterion: "more than 40 times the better one", Holds: ratio.Value > 40, Missing: noAccount,
		Ours:   "on a stand-in " + writtenTimes(ratio),
		Detail: "SumDP's error on the stand-in depends on how many large inputs it has",
	}
}

// tableQuote are numbers that the paper prints.
func tableQuote(numbers ...float64) string {
	var parts []string
	for _, x := range numbers {
		parts = append(parts, fmt.Sprintf("%.3g%%", x))
	}
	return strings.Join(parts, ", ")
}

const inTable3 = "Table 3"

// drawn compares the paper's error of SumDP with those on many draws of the data.
func (m measuredColumn) drawn() experiment.Verdict {
	lowest, highest, theirs := m.spread[0], m.spread[len(m.spread)-1], m.column.errors[0]
	return experiment.Verdict{
		Claim:   "the paper's error of SumDP is one that data of this law give",
		Section: inTable3, Quote: tableQuote(theirs),
		Criterion: fmt.Sprintf("between the least and the largest of %d draws, %g times more or less", len(m.spread), slack),
		Holds:     lowest <= slack*theirs && theirs <= slack*highest,
		Ours:      fmt.Sprintf("%.3g to %.3g %%", lowest, highest),
		Detail:    written(m.errors[sumDPName]) + " on the table's draw",
	}
}

// sameRivals compares the errors of GKMPS and BBGN with the paper's, which are of one run.
func (m measuredColumn) sameRivals() experiment.Verdict {
	theirs := m.column.errors
	inside, parts := 0, []string{}
	for k, name := range sumNames[1:3] {
		one := oneRun(m.errors[name], m.groups)
		if one.Low <= theirs[k+1] && theirs[k+1] <= one.High {
			inside++
		}
		parts = append(parts, fmt.Sprintf("%s %s, one run of 20 repeats %.3g to %.3g %%", name, written(m.errors[name]), one.Low, one.High))
	}
	return experiment.Verdict{
		Claim:   "GKMPS and BBGN have the paper's errors",
		Section: inTable3, Quote: tableQuote(theirs[1], theirs[2]),
		Criterion: "the paper's within the spread of one run, with probability 0.99",
		Holds:     inside == 2,
		Ours:      fmt.Sprintf("%.3g %%, %.3g %%: %d of 2", m.errors["GKMPS"].Value, m.errors["BBGN"].Value, inside),
		Detail:    strings.Join(parts, "; "),
	}
}

// standsIn compares the errors on a stand-in with the paper's.
func (m measuredColumn) standsIn() experiment.Verdict {
	theirs := m.column.errors
	holds := true
	for k, name := range sumNames[:3] {
		ratio := m.errors[name].Value / theirs[k]
		holds = holds && ratio <= slack && ratio >= 1/slack
	}
	return experiment.Verdict{
		Claim:   fmt.Sprintf("Table 3, %s: SumDP, GKMPS and BBGN have the paper's errors", m.base()),
		Section: inTable3, Quote: tableQuote(theirs[:3]...),
		Criterion: fmt.Sprintf("up to %g times more or less", slack), Holds: holds, Missing: noAccount,
		Ours: fmt.Sprintf("on a stand-in %.3g %%, %.3g %%, %.3g %%", m.errors[sumDPName].Value, m.errors["GKMPS"].Value, m.errors["BBGN"].Value),
		Detail: fmt.Sprintf("SumDP %s, and %.3g to %.3g %% over %d draws of the stand-in; GKMPS %s, BBGN %s; the stand-in's mean follows from the paper's error of BBGN",
			written(m.errors[sumDPName]), m.spread[0], m.spread[len(m.spread)-1], len(m.spread), written(m.errors["GKMPS"]), written(m.errors["BBGN"])),
	}
}

// allRuns compares the errors of a mechanism over the simulated columns, whose runs are independent:
// once with each reading of Gauss.
func allRuns(found []measuredColumn, mechanism int) experiment.Verdict {
	name := sumNames[mechanism]
	var ours, theirs []string
	inside := 0
	for _, other := range []outside{discarded, clamped} {
		var errors []experiment.Interval
		var paper []float64
		theirs = nil
		for _, m := range found {
			if m.isStandIn || strings.HasSuffix(m.name, other.String()) {
				continue
			}
			errors, paper = append(errors, m.errors[name]), append(paper, m.column.errors[mechanism])
			theirs = append(theirs, fmt.Sprintf("%.3g%%", m.column.errors[mechanism]))
		}
		ratio := pooled(errors, paper, found[0].groups)
		if ratio.Low <= 1 && 1 <= ratio.High {
			inside++
		}
		ours = append(ours, fmt.Sprintf("%.2f [%.2f, %.2f]", ratio.Value, ratio.Low, ratio.High))
	}
	return experiment.Verdict{
		Claim:   fmt.Sprintf("Table 3, simulated data together: %s has the paper's errors", name),
		Section: inTable3, Quote: strings.Join(theirs, ", "),
		Criterion: "1 within the interval of ours over the paper's, geometric mean",
		Holds:     inside == 2, Readings: experiment.Share{Held: inside, Of: 2},
		Ours:   strings.Join(ours, " or ") + " of the paper's",
		Detail: "with normal variables discarded, or clamped; the paper's are one run each",
	}
}

// sameMessages compares the numbers of messages.
func sameMessages(found []measuredColumn) experiment.Verdict {
	v := experiment.Verdict{
		Claim: "Table 3: clients of SumDP, GKMPS and BBGN send as many messages as the paper's", Holds: true,
		Section: inTable3, Criterion: fmt.Sprintf("up to %g times more or less in every column", slack),
	}
	var ours, theirs, ratios []string
	for k, name := range sumNames[:3] {
		var at [3][]float64
		for _, m := range found {
			a, b := m.messages[name], m.column.messages[k]
			for i, x := range []float64{a, b, a / b} {
				at[i] = append(at[i], x)
			}
		}
		v.Holds = v.Holds && slices.Max(at[2]) <= slack && slices.Min(at[2]) >= 1/slack
		ours = append(ours, fmt.Sprintf("%.0f to %.0f", slices.Min(at[0]), slices.Max(at[0])))
		theirs = append(theirs, fmt.Sprintf("%.0f–%.0f", slices.Min(at[1]), slices.Max(at[1])))
		ratios = append(ratios, fmt.Sprintf("%s sends %.2f to %.2f times the paper's", name, slices.Min(at[2]), slices.Max(at[2])))
	}
	v.Ours, v.Quote = strings.Join(ours, "; "), strings.Join(theirs, ", ")
	v.Detail = strings.Join(ratios, ", ") + "; our constants are certified, and need no data"
	return v
}
