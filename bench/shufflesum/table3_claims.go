package shufflesum

import (
	"fmt"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// measuredColumn is a column with the errors of the mechanisms in percent, and those of SumDP on
// other draws of the data in ascending order.
type measuredColumn struct {
	column
	errors map[string]float64
	spread []float64
}

// slack is by how much an error may exceed the paper's and still be counted as the
// same: the paper's mean of 12 Laplace errors has a spread of about 20 %.
const slack = 1.5

// table3Claims are what the paper says about Table 3. Without numbers of the paper there are
// only those that compare.
func table3Claims(found []measuredColumn) []experiment.Verdict {
	var out []experiment.Verdict
	below := func(limit float64) (count int, over []string) {
		for _, m := range found {
			if m.errors[sumDPName] < limit {
				count++
				continue
			}
			over = append(over, fmt.Sprintf("%s %.3g %%", m.name, m.errors[sumDPName]))
		}
		return count, over
	}
	better, most, where := 0, 0.0, ""
	for _, m := range found {
		own := m.errors[sumDPName]
		if own < m.errors[centralName] {
			better++
		}
		if ratio := max(m.errors["GKMPS"], m.errors["BBGN"]) / own; ratio > most {
			most, where = ratio, m.name
		}
	}
	if found[0].column.errors != nil {
		for _, limit := range []struct {
			percent    float64
			exceptions int
		}{{2, 0}, {0.2, 1}} {
			count, over := below(limit.percent)
			v := experiment.Verdict{
				Claim:  fmt.Sprintf("SumDP's error is below %g %% in all columns but %d", limit.percent, limit.exceptions),
				Holds:  len(over) <= limit.exceptions,
				Detail: fmt.Sprintf("in %d of %d", count, len(found)),
			}
			if len(over) > 0 {
				v.Detail += "; not for " + strings.Join(over, ", ")
			}
			out = append(out, v)
		}
	}
	out = append(out, experiment.Verdict{
		Claim:  "SumDP is up to 3000 times more accurate than GKMPS and BBGN",
		Holds:  most >= 3000/slack,
		Detail: fmt.Sprintf("up to %.3g times, for %s; at least 3000/%g counts", most, where, slack),
	}, experiment.Verdict{
		Claim:  "SumDP is on par with central DP: better in about half of the columns",
		Holds:  4*better >= len(found) && 4*better <= 3*len(found),
		Detail: fmt.Sprintf("better in %d of %d; a quarter to three quarters count", better, len(found)),
	})
	for _, m := range found {
		if m.column.errors != nil {
			out = append(out, m.claims()...)
		}
	}
	return out
}

// claims compares a column with the paper's.
func (m measuredColumn) claims() []experiment.Verdict {
	theirs, lowest, highest := m.column.errors[0], m.spread[0], m.spread[len(m.spread)-1]
	out := []experiment.Verdict{{
		Claim:  fmt.Sprintf("%s: the paper's error of SumDP, %.3g %%, is one that data of this law gives", m.name, theirs),
		Holds:  lowest <= slack*theirs && theirs <= slack*highest,
		Detail: fmt.Sprintf("%.3g to %.3g %% over %d draws of the data", lowest, highest, len(m.spread)),
	}}
	for k, name := range sumNames[1:3] {
		theirs := m.column.errors[k+1]
		ours := m.errors[name]
		out = append(out, experiment.Verdict{
			Claim:  fmt.Sprintf("%s: the error of %s is the paper's %.3g %%", m.name, name, theirs),
			Holds:  ours <= slack*theirs && theirs <= slack*ours,
			Detail: fmt.Sprintf("%.3g %%; up to %g times more or less counts", ours, slack),
		})
	}
	if strings.HasPrefix(m.name, "JP-Trad") {
		ratio := min(m.errors["GKMPS"], m.errors["BBGN"]) / m.errors[sumDPName]
		out = append(out, experiment.Verdict{
			Claim:  m.name + ": SumDP is more than 40 times more accurate than GKMPS and BBGN",
			Holds:  ratio > 40,
			Detail: fmt.Sprintf("%.3g times", ratio),
		})
	}
	return out
}
