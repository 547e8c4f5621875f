package keyvalues

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// rivalsOf are the contenders that the paper's legend lists beside its own, under every reading: PrivKV has two
// responses or one, and SUCCINCT, which has means only, the proven clip or a smaller one.
func rivalsOf(f paperFigure) (readings [][]int) {
	for _, first := range []int{byPrivKV, byThreeStates} {
		others := []int{first, byGRR, byAGRR, byUE}
		if !f.by.ofMeans() {
			readings = append(readings, others)
			continue
		}
		for _, clip := range []int{bySUCCINCT, bySmallerClip} {
			readings = append(readings, append(slices.Clone(others), clip))
		}
	}
	return readings
}

// reduction is the share by which the error of a is below the error of others, by the mean logarithms that
// the figures draw, averaged over all others, sparsities and ε. The interval is the jackknife's over the
// repeats. below counts the pairs in which the mean logarithm is lower.
func (st *study) reduction(f paperFigure, a int, others ...int) (average experiment.Interval, below, pairs int) {
	return st.reductionAt(f, indices(st.sparsities), indices(st.epsilons), a, others...)
}

// reductionAt is the reduction over some of the settings.
func (st *study) reductionAt(f paperFigure, sparsities, epsilons []int, a int, others ...int) (average experiment.Interval, below, pairs int) {
	all, without := 0.0, make([]float64, st.repeats) // with all repeats, and with all but one
	n := float64(st.repeats)
	for _, i := range sparsities {
		for _, k := range epsilons {
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

func indices[T any](of []T) []int {
	all := make([]int, len(of))
	for i := range all {
		all[i] = i
	}
	return all
}

func percent(i experiment.Interval) string {
	return fmt.Sprintf("%.1f %% [%.1f, %.1f]", 100*i.Value, 100*i.Low, 100*i.High)
}

// span is what an average has to be between, both ends included.
type span struct{ low, high float64 }

// about is a tenth, or another part, to both sides of a claimed number.
func about(claimed, part float64) span { return span{claimed * (1 - part), claimed * (1 + part)} }

func (s span) holds(v float64) bool { return s.low <= v && v <= s.high }

// String is for shares.
func (s span) String() string {
	if math.IsInf(s.high, 1) {
		return fmt.Sprintf("at least %.3g %%", 100*s.low)
	}
	return fmt.Sprintf("%.3g to %.3g %%", 100*s.low, 100*s.high)
}

var (
	moreThan60 = span{0.6, math.Inf(1)}
	moreThan15 = span{0.15, math.Inf(1)}
	about30    = span{0.25, 0.35}
	about15    = span{0.10, 0.20}
)

// most is the share of the settings that counts as almost all of them.
const most = 0.9

// settle is the outcome over the readings.
func settle(v experiment.Verdict, held []bool) experiment.Verdict {
	for _, h := range held {
		if h {
			v.Readings.Held++
		}
	}
	v.Readings.Of = len(held)
	v.Holds = v.Readings.Held == v.Readings.Of
	return v
}

// verdicts are the paper's claims about one figure.
func (st *study) verdicts(f paperFigure) []experiment.Verdict {
	switch f.number {
	case 6, 7:
		return []experiment.Verdict{
			st.average(f, byCollision, moreThan60, "8.2.1", "on average reduces more than 60% errors"),
			st.almostAll(f, byCollision, "8.2.1", "outperforms all competing mechanisms in almost all cases significantly"),
			st.narrows(f, byCollision, "8.2.1", "the performance gap between PCKV-AGRR and Collision decreases"),
			st.unaryBetter(f), st.unarySimilar(f),
		}
	case 12, 13:
		return []experiment.Verdict{
			st.average(f, byCollision, about30, "8.4", "outperforms existing approaches by about 30%"),
			st.almostAll(f, byCollision, "8.4", "outperforms existing approaches […] in almost all settings"),
			st.coco(f, moreThan15, "8.4", "further reduce more than 15% error compared to the Collision"),
			st.clipped(f), st.lessCompetitive(f), st.zeroCloser(f),
		}
	case 15:
		var out []experiment.Verdict
		for _, own := range []int{byCollision, byCoCo} {
			out = append(out,
				st.average(f, own, about30, "8.4.1", "Collision/CoCo mechanisms outperform existing approaches by about 30%"),
				st.almostAll(f, own, "8.4.1", "Collision/CoCo mechanisms outperform existing approaches […] in almost all settings"),
				st.narrows(f, own, "8.4.1", "the performance gap between PCKV-AGRR and Collision/CoCo decreases"))
		}
		return append(out, st.zeroCloser(f))
	case 14, 16:
		return []experiment.Verdict{st.zeroCloser(f)}
	}
	return nil
}

func (f paperFigure) claim(own int, text string) string {
	return fmt.Sprintf("Figure %d, %s: %s", f.number, f.by.title(), strings.Replace(text, "OWN", contenders[own].label, 1))
}

// average is a claim about the average over all rivals and settings.
func (st *study) average(f paperFigure, own int, want span, section, quote string) experiment.Verdict {
	var held []bool
	var parts []string
	var first experiment.Interval
	for i, others := range rivalsOf(f) {
		pooled, _, _ := st.reduction(f, own, others...)
		if i == 0 {
			first = pooled
		}
		held = append(held, want.holds(pooled.Value))
		parts = append(parts, percent(pooled))
	}
	return settle(experiment.Verdict{
		Claim:   f.claim(own, fmt.Sprintf("OWN's error is %s below the others' error on average", want)),
		Section: section, Quote: quote,
		Criterion: fmt.Sprintf("average over all listed rivals and %d settings %s", len(st.sparsities)*len(st.epsilons), want),
		Ours:      percent(first) + st.zeroBeside(f),
		Detail:    fmt.Sprintf("in each reading of PrivKV and SUCCINCT: %s; against each: %s", strings.Join(parts, ", "), st.each(f, own)),
	}, held)
}

// almostAll is a claim about how often an error is below a rival's.
func (st *study) almostAll(f paperFigure, own int, section, quote string) experiment.Verdict {
	var held []bool
	var parts []string
	for _, others := range rivalsOf(f) {
		_, below, pairs := st.reduction(f, own, others...)
		held = append(held, float64(below) >= most*float64(pairs))
		parts = append(parts, fmt.Sprintf("%d of %d", below, pairs))
	}
	return settle(experiment.Verdict{
		Claim:   f.claim(own, "OWN's error is below the others' error in almost all settings"),
		Section: section, Quote: quote,
		Criterion: fmt.Sprintf("below in at least %g %% of the pairs of a setting and a rival", 100*most),
		Ours:      "in " + parts[0] + " pairs" + st.zeroBeside(f),
		Detail:    "in each reading of PrivKV and SUCCINCT: " + strings.Join(parts, ", "),
	}, held)
}

// each lists the averages against each mechanism.
func (st *study) each(f paperFigure, own int) string {
	var parts []string
	for _, other := range []int{byPrivKV, byThreeStates, byGRR, byAGRR, byUE, bySUCCINCT, bySmallerClip} {
		if st.of(f, 0, other, 0) == nil {
			continue
		}
		average, _, _ := st.reduction(f, own, other)
		parts = append(parts, fmt.Sprintf("%s %.0f %%", contenders[other].label, 100*average.Value))
	}
	return strings.Join(parts, ", ")
}

// coco is a claim about CoCo beside Collision.
func (st *study) coco(f paperFigure, want span, section, quote string) experiment.Verdict {
	average, _, _ := st.reduction(f, byCoCo, byCollision)
	return experiment.Verdict{
		Claim:   f.claim(byCoCo, fmt.Sprintf("OWN's error is %s below Collision's on average", want)),
		Section: section, Quote: quote, Criterion: fmt.Sprintf("average over all settings %s", want),
		Holds:  want.holds(average.Value),
		Ours:   percent(average) + st.zeroBeside(f),
		Detail: st.cocoByEpsilon(f),
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

// clipped is the claim about SUCCINCT's largest errors.
func (st *study) clipped(f paperFigure) experiment.Verdict {
	average, _, _ := st.reduction(f, byCollision, bySUCCINCT)
	small, _, _ := st.reduction(f, byCollision, bySmallerClip)
	return settle(experiment.Verdict{
		Claim:   f.claim(byCollision, fmt.Sprintf("OWN's error is %s below SUCCINCT's", about30)),
		Section: "3.1", Quote: "lag behind our proposal by approximately 30%",
		Criterion: fmt.Sprintf("average over all settings %s", about30),
		Ours:      percent(average) + st.zeroBeside(f),
		Detail:    "with the smaller clip " + percent(small),
	}, []bool{about30.holds(average.Value), about30.holds(small.Value)})
}

// lessCompetitive is the claim that SUCCINCT falls behind where ε or s is large.
func (st *study) lessCompetitive(f paperFigure) experiment.Verdict {
	var held []bool
	var parts []string
	for _, clip := range []int{bySUCCINCT, bySmallerClip} {
		var large, small []float64
		for i, s := range st.sparsities {
			for k, epsilon := range st.epsilons {
				gain := st.gain(f, byCollision, clip, i, k)
				if s >= 16 || epsilon >= 1 {
					large = append(large, gain)
				} else {
					small = append(small, gain)
				}
			}
		}
		a, b := stat.Mean(large, nil), stat.Mean(small, nil)
		held = append(held, a > b)
		parts = append(parts, fmt.Sprintf("%.0f %% there, %.0f %% elsewhere", 100*a, 100*b))
	}
	return settle(experiment.Verdict{
		Claim:   f.claim(byCollision, "SUCCINCT falls behind where ε or s is large"),
		Section: "8.4", Quote: "less competitive when […] ε or […] is relatively large",
		Criterion: "Collision's gain over SUCCINCT larger on average for s ≥ 16 or ε ≥ 1 than elsewhere",
		Ours:      parts[0], Detail: "with the smaller clip " + parts[1],
	}, held)
}

// zeroBest counts the settings in which no mechanism is closer to the truth than 0 for every key.
func (st *study) zeroBest(f paperFigure) (best, settings int) {
	for i := range st.sparsities {
		for k := range st.epsilons {
			settings++
			least := math.Inf(1)
			for j, c := range contenders {
				if values := st.of(f, i, j, k); values != nil && !c.reference {
					least = min(least, stat.Mean(values, nil))
				}
			}
			if stat.Mean(st.of(f, i, byZero, k), nil) < least {
				best++
			}
		}
	}
	return best, settings
}

// zeroBeside says what a figure of means can show.
func (st *study) zeroBeside(f paperFigure) string {
	if !f.by.ofMeans() {
		return ""
	}
	best, settings := st.zeroBest(f)
	return fmt.Sprintf("; an estimate of 0 beats every mechanism in %d of %d settings", best, settings)
}

// zeroCloser is no claim of the paper.
func (st *study) zeroCloser(f paperFigure) experiment.Verdict {
	best, settings := st.zeroBest(f)
	return experiment.Verdict{
		Claim:     f.claim(byCollision, "an estimate of 0 for every key beats every mechanism"),
		Criterion: "in all settings",
		Holds:     best == settings,
		Ours:      fmt.Sprintf("in %d of %d settings", best, settings),
		Detail:    "the true means are 0 but for chance",
	}
}

// narrows is the claim that the gap to PCKV-AGRR closes for large s at the largest ε.
func (st *study) narrows(f paperFigure, own int, section, quote string) experiment.Verdict {
	last := []int{len(st.epsilons) - 1}
	var dense, sparse []int
	var parts []string
	for i, s := range st.sparsities {
		if s >= 16 {
			dense = append(dense, i)
		} else {
			sparse = append(sparse, i)
		}
		parts = append(parts, fmt.Sprintf("%.0f %% at s = %d", 100*st.gain(f, own, byAGRR, i, last[0]), s))
	}
	large, _, _ := st.reductionAt(f, dense, last, own, byAGRR)
	small, _, _ := st.reductionAt(f, sparse, last, own, byAGRR)
	return experiment.Verdict{
		Claim:   f.claim(own, "at the largest ε OWN's gain over PCKV-AGRR is smaller for large s"),
		Section: section, Quote: quote,
		Criterion: fmt.Sprintf("at ε = %g, gain for s ≥ 16 below the gain for s ≤ 8 on average", st.epsilons[last[0]]),
		Holds:     large.Value < small.Value,
		Ours:      percent(large) + " beside " + percent(small),
		Detail:    strings.Join(parts, ", "),
	}
}

// unary is the share by which PCKV-UE's error is below the error of both readings of PrivKV, at one sparsity and
// averaged over ε.
func (st *study) unary(f paperFigure, sparsity int) (gains []float64, text string) {
	var parts []string
	for _, other := range []int{byPrivKV, byThreeStates} {
		gain, _, _ := st.reductionAt(f, []int{sparsity}, indices(st.epsilons), byUE, other)
		gains = append(gains, gain.Value)
		parts = append(parts, fmt.Sprintf("below %s by %s", contenders[other].label, percent(gain)))
	}
	return gains, strings.Join(parts, ", ")
}

// unaryBetter and unarySimilar are the claims about PCKV-UE and PrivKV.
func (st *study) unaryBetter(f paperFigure) experiment.Verdict {
	gains, text := st.unary(f, 0)
	return settle(experiment.Verdict{
		Claim:   f.claim(byUE, "OWN improves on PrivKV where s is very small"),
		Section: "8.2.1", Quote: "improves upon the PrivKV in extremely sparse cases",
		Criterion: fmt.Sprintf("at least 5 %% below at s = %d on average over ε", st.sparsities[0]),
		Ours:      text,
	}, []bool{gains[0] >= 0.05, gains[1] >= 0.05})
}

func (st *study) unarySimilar(f paperFigure) experiment.Verdict {
	last := len(st.sparsities) - 1
	gains, text := st.unary(f, last)
	return settle(experiment.Verdict{
		Claim:   f.claim(byUE, "OWN and PrivKV are similar where s is large"),
		Section: "8.2.1", Quote: "the PCKV-UE and PrivKV mechanisms have similar performances",
		Criterion: fmt.Sprintf("within 10 %% of each other at s = %d on average over ε", st.sparsities[last]),
		Ours:      text,
	}, []bool{math.Abs(gains[0]) <= 0.1, math.Abs(gains[1]) <= 0.1})
}
