package histograms

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// contender is a method with the weights made for each measure: pac names the method
// scored by the quantile, mse the one scored by the mean squared error. The remark goes
// with a loss.
type contender struct{ name, pac, mse, remark string }

var (
	heuristic = contender{"A", "A", "A", "A does not control its bias, so that the paper's claim can hold only for its own generator"}
	optima    = map[bool]contender{ // by whether demands are correlated with values
		true:  {name: "C", pac: "C, PAC", mse: "C, MSE"},
		false: {name: "U", pac: "U, PAC", mse: "U, MSE"},
	}
	calibrated = map[bool]contender{
		true:  {name: "calibrated C", pac: "C, calibrated, PAC", mse: "C, calibrated, MSE"},
		false: {name: "calibrated U", pac: "U, calibrated, PAC", mse: "U, calibrated, MSE"},
	}
)

// contenders of a setting: two for the paper's claim, one of ours.
func (s setting) contenders() []contender {
	correlated := s.dependence != uncorrelated
	return []contender{heuristic, optima[correlated], calibrated[correlated]}
}

var baselines = []string{"Prop", "UNI", "SM, max", "SM, mean", "LDP"}

// decisive is how many standard errors apart two numbers must be to count as different.
const decisive = 2

// apart returns by how many standard errors of the difference the other is larger,
// with the two taken as independent. Without standard errors any difference is
// infinitely many.
func (m measured) apart(other measured) float64 {
	if m.value == other.value {
		return 0
	}
	return (other.value - m.value) / math.Hypot(m.stderr, other.stderr)
}

// verdict says whether no baseline is clearly better than the contender in either
// measure, and in its detail which ones are clearly worse.
func (c contender) verdict(s setting, scores []score) experiment.Verdict {
	find := func(name string) score {
		return scores[slices.IndexFunc(methods, func(m method) bool { return m.name == name })]
	}
	var quantiles, squares []measured
	for _, b := range baselines {
		quantiles, squares = append(quantiles, find(b).quantile), append(squares, find(b).mse)
	}
	first, lostFirst := compare("95 % quantile", find(c.pac).quantile, quantiles)
	second, lostSecond := compare("MSE", find(c.mse).mse, squares)
	v := experiment.Verdict{
		Claim:  fmt.Sprintf("%s: %s is not beaten by Prop, UNI, SM or LDP", s, c.name),
		Holds:  !lostFirst && !lostSecond,
		Detail: first + "; " + second,
	}
	if !v.Holds && c.remark != "" {
		v.Detail += "; " + c.remark
	}
	return v
}

// compare says in words how a number compares with those of the baselines. It also
// returns whether any of these is clearly smaller.
func compare(measure string, own measured, others []measured) (words string, lost bool) {
	wins, closest := 0, math.Inf(1)
	var next string
	var rest []string
	for i, other := range others {
		ratio, apart := other.value/own.value, own.apart(other)
		by := fmt.Sprintf("%s (%.3g×)", baselines[i], ratio)
		if !math.IsInf(apart, 0) { // one repeat has no standard errors
			by = fmt.Sprintf("%s (%.3g×, %+.1f standard errors)", baselines[i], ratio, apart)
		}
		switch {
		case apart > decisive:
			wins++
			if ratio < closest {
				closest, next = ratio, by
			}
		case apart < -decisive:
			lost = true
			rest = append(rest, "loses to "+by)
		default:
			rest = append(rest, "ties with "+by)
		}
	}
	words = fmt.Sprintf("%s: clearly beats %d of %d", measure, wins, len(others))
	if wins > 0 {
		words += ", the closest of them " + next
	}
	return strings.Join(append([]string{words}, rest...), ", "), lost
}
