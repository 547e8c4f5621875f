package keyvalues

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// compared are the contenders that Collision is compared with, under the first reading of PrivKV and
// under the second.
var compared = [][]int{
	{byPrivKV, byGRR, byAGRR, byUE},
	{byThreeStates, byGRR, byAGRR, byUE},
}

// reduction is the share by which the error of a is below the error of others, by the mean logarithms that
// the figures draw, averaged over all others, sparsities and ε. The interval is the jackknife's over the
// repeats. below counts the pairs in which the mean logarithm is lower.
func (st *study) reduction(f paperFigure, a int, others ...int) (average experiment.Interval, below, pairs int) {
	all, without := 0.0, make([]float64, st.repeats) // with all repeats, and with all but one
	n := float64(st.repeats)
	for i := range st.sparsities {
		for k := range st.epsilons {
			own := st.of(f, i, a, k)
			for _, b := range others {
				other := st.of(f, i, b, k)
				difference := stat.Mean(own, nil) - stat.Mean(other, nil)
				pairs++
				if difference < 0 {
					below++
				}
				all -= math.Expm1(difference)
				for r := range without {
					without[r] -= math.Expm1((n*difference - (own[r] - other[r])) / (n - 1))
				}
			}
		}
	}
	if st.repeats == 1 {
		return experiment.MeanInterval([]float64{all / float64(pairs)}), below, pairs
	}
	for r, w := range without {
		without[r] = (n*all - (n-1)*w) / float64(pairs)
	}
	return experiment.MeanInterval(without), below, pairs
}

func percent(i experiment.Interval) string {
	return fmt.Sprintf("%.1f %% [%.1f, %.1f]", 100*i.Value, 100*i.Low, 100*i.High)
}

// verdicts are the paper's claims about one figure, with the averages that they pool.
func (st *study) verdicts(f paperFigure) []experiment.Verdict {
	what := fmt.Sprintf("Figure %d, %s: ", f.number, f.by.title())
	var out []experiment.Verdict
	claimed := map[int]float64{6: 0.6, 7: 0.6, 12: 0.3, 13: 0.3, 15: 0.3}[f.number]
	pooled, _, _ := st.reduction(f, byCollision, compared[0]...)
	other, _, _ := st.reduction(f, byCollision, compared[1]...)
	averages := fmt.Sprintf("with 3-ary PrivKV %s; %s", percent(other), st.each(f))
	if claimed > 0 {
		out = append(out, experiment.Verdict{
			Claim:  fmt.Sprintf("%sCollision's error is %g %% below the others' error on average", what, 100*claimed),
			Holds:  pooled.Value >= claimed,
			Ours:   percent(pooled) + " pooled",
			Paper:  map[float64]string{0.6: "more than 60 %", 0.3: "about 30 %"}[claimed],
			Detail: averages + open(pooled, claimed),
		})
	}
	_, below, pairs := st.reduction(f, byCollision, compared[0]...)
	v := experiment.Verdict{
		Claim: what + "Collision's error is below the others' error in almost all settings",
		Holds: float64(below) >= 0.9*float64(pairs),
		Ours:  fmt.Sprintf("in %d of %d pairs of a setting and a mechanism", below, pairs),
		Paper: "almost all",
	}
	var details []string
	if claimed == 0 {
		details = append(details, percent(pooled)+" pooled, "+averages)
	}
	if f.by == meanTVEPost {
		average, _, _ := st.reduction(f, byCoCo, byCollision)
		details = append(details, fmt.Sprintf("CoCo below Collision by %s, %s", percent(average), st.cocoByEpsilon(f)))
	}
	v.Detail = strings.Join(details, "; ")
	out = append(out, v)
	switch {
	case f.by == frequencyTVE && f.number == figures[0].number:
		out = append(out, st.narrows(f, what), st.unaryAgainstPrivKV(f, what))
	case f.by == meanMAE || f.by == meanMAEPost:
		out = append(out, st.coco(f, what), st.clipped(f, what))
	}
	if f.by.ofMeans() {
		out = append(out, st.againstZero(f, what))
	}
	return out
}

// open says that an interval holds both outcomes.
func open(i experiment.Interval, claimed float64) string {
	if i.Low < claimed && claimed < i.High {
		return "; the interval holds both outcomes"
	}
	return ""
}

// each lists the averages of Collision against each mechanism.
func (st *study) each(f paperFigure) string {
	var parts []string
	for _, other := range []int{byPrivKV, byThreeStates, byGRR, byAGRR, byUE} {
		average, _, _ := st.reduction(f, byCollision, other)
		parts = append(parts, fmt.Sprintf("%s %.0f %%", contenders[other].label, 100*average.Value))
	}
	return strings.Join(parts, ", ")
}

// coco is the claim about CoCo in Figures 12 and 13.
func (st *study) coco(f paperFigure, what string) experiment.Verdict {
	const claimed = 0.15
	average, _, _ := st.reduction(f, byCoCo, byCollision)
	return experiment.Verdict{
		Claim:  what + "CoCo's error is 15 % below Collision's on average",
		Holds:  average.Value >= claimed,
		Ours:   percent(average),
		Paper:  "at least 15 %",
		Detail: st.cocoByEpsilon(f) + open(average, claimed),
	}
}

// cocoByEpsilon says by how much CoCo's error is below Collision's, with t by search and for each ε.
func (st *study) cocoByEpsilon(f paperFigure) string {
	searched, _, _ := st.reduction(f, bySearchedCoCo, byCollision)
	var where []string
	for k, epsilon := range st.epsilons {
		gain := 0.0
		for i := range st.sparsities {
			gain += st.gain(f, byCoCo, byCollision, i, k) / float64(len(st.sparsities))
		}
		where = append(where, fmt.Sprintf("%.0f %% at ε = %g", 100*gain, epsilon))
	}
	return fmt.Sprintf("with t by search %s; %s", percent(searched), strings.Join(where, ", "))
}

// gain is the share by which the error of a is below the error of b at one sparsity and ε.
func (st *study) gain(f paperFigure, a, b, sparsity, epsilon int) float64 {
	own, other := st.of(f, sparsity, a, epsilon), st.of(f, sparsity, b, epsilon)
	return -math.Expm1(stat.Mean(own, nil) - stat.Mean(other, nil))
}

// clipped is the claim about SUCCINCT.
func (st *study) clipped(f paperFigure, what string) experiment.Verdict {
	average, below, pairs := st.reduction(f, byCollision, bySUCCINCT)
	small, _, _ := st.reduction(f, byCollision, bySmallerClip)
	return experiment.Verdict{
		Claim:  what + "Collision's error is 30 % below SUCCINCT's",
		Holds:  average.Value >= 0.3,
		Ours:   percent(average),
		Paper:  "about 30 %",
		Detail: fmt.Sprintf("below in %d of %d settings; with the smaller clip %s", below, pairs, percent(small)),
	}
}

// againstZero is no claim of the paper, and says what its figures of means can show.
func (st *study) againstZero(f paperFigure, what string) experiment.Verdict {
	_, below, pairs := st.reduction(f, byCollision, byZero)
	return experiment.Verdict{
		Claim:  what + "Collision is closer to the truth than 0 for every key",
		Holds:  below == pairs,
		Ours:   fmt.Sprintf("in %d of %d settings", below, pairs),
		Detail: "the true means are 0 but for chance",
	}
}

// narrows is the claim that the gap to PCKV-AGRR closes for s ≥ 16 at ε = 2.
func (st *study) narrows(f paperFigure, what string) experiment.Verdict {
	last := len(st.epsilons) - 1
	var dense, sparse []float64
	var parts []string
	for i, s := range st.sparsities {
		gain := st.gain(f, byCollision, byAGRR, i, last)
		if s >= 16 {
			dense = append(dense, gain)
		} else {
			sparse = append(sparse, gain)
		}
		parts = append(parts, fmt.Sprintf("%.0f %% at s = %d", 100*gain, s))
	}
	return experiment.Verdict{
		Claim: what + "at the largest ε Collision's gain over PCKV-AGRR is smaller for s ≥ 16",
		Holds: stat.Mean(dense, nil) < stat.Mean(sparse, nil),
		Ours:  fmt.Sprintf("at ε = %g: %s", st.epsilons[last], strings.Join(parts, ", ")),
		Paper: "the gap narrows",
	}
}

// unaryAgainstPrivKV is the claim that PCKV-UE improves on PrivKV for small s, and is similar for s = 32:
// here by 5 % at least, and within 10 %.
func (st *study) unaryAgainstPrivKV(f paperFigure, what string) experiment.Verdict {
	gains := func(other int) (by []float64, text string) {
		var parts []string
		for i, s := range st.sparsities {
			gain := 0.0
			for k := range st.epsilons {
				gain += st.gain(f, byUE, other, i, k) / float64(len(st.epsilons))
			}
			by = append(by, gain)
			parts = append(parts, fmt.Sprintf("%.0f %% at s = %d", 100*gain, s))
		}
		return by, strings.Join(parts, ", ")
	}
	by, text := gains(byPrivKV)
	_, other := gains(byThreeStates)
	return experiment.Verdict{
		Claim:  what + "PCKV-UE improves on PrivKV for small s, and is about as good for s = 32",
		Holds:  by[0] > 0.05 && math.Abs(by[len(by)-1]) < 0.1,
		Ours:   "below PrivKV by " + text,
		Paper:  "improves when s is very small, similar at 32",
		Detail: "below the 3-ary one by " + other,
	}
}
