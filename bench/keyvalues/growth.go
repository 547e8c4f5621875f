package keyvalues

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// pairsOfFigures are two figures that differ in n or in d, and by what factor the paper says that
// errors differ.
var pairsOfFigures = []struct {
	large, small   int
	factor         float64
	said           string
	section, quote string
}{
	{8, 6, math.Sqrt2, "grow like √d", "8.2.2", "TVE/MAE value grows with approximately √d"},
	{9, 7, math.Sqrt2, "grow like √d", "8.2.2", "TVE/MAE value grows with approximately √d"},
	{15, 14, math.Sqrt2, "grow like √d", "8.4.2", "TVE grows roughly with √d"},
	{10, 6, math.Sqrt(10), "are √10 times larger", "8.2.4", "TVE/MAE value is about √(100000/10000) times larger"},
	{11, 7, math.Sqrt(10), "are √10 times larger", "8.2.4", "TVE/MAE value is about √(100000/10000) times larger"},
	{16, 14, math.Sqrt(10), "are √10 times larger", "8.4.3", "the TVE is about √(100000/10000) times larger"},
}

// across is the claims about several figures of a run.
func (st *study) across(shown []paperFigure) (out []experiment.Verdict) {
	var frequencies, means []paperFigure
	for _, f := range shown {
		if f.by.ofMeans() {
			means = append(means, f)
		} else {
			frequencies = append(frequencies, f)
		}
	}
	if len(frequencies) > 1 {
		out = append(out, st.everyEpsilon(frequencies), st.allCases(frequencies))
	}
	if len(means) > 1 {
		out = append(out, st.cocoOfMeans(means))
	}
	return append(out, st.growth(shown)...)
}

func named(shown []paperFigure) string {
	return fmt.Sprintf("Figures %d to %d", shown[0].number, shown[len(shown)-1].number)
}

// allCases is the claim that Collision is better in all cases.
func (st *study) allCases(shown []paperFigure) experiment.Verdict {
	var held []bool
	var parts []string
	for reading := range rivalsOf(shown[0]) {
		below, pairs := 0, 0
		for _, f := range shown {
			_, b, p := st.reduction(f, byCollision, rivalsOf(f)[reading]...)
			below, pairs = below+b, pairs+p
		}
		held = append(held, below == pairs)
		parts = append(parts, fmt.Sprintf("in %d of %d pairs", below, pairs))
	}
	var each []string
	for _, f := range shown {
		_, below, pairs := st.reduction(f, byCollision, rivalsOf(f)[0]...)
		each = append(each, fmt.Sprintf("%d of %d in Figure %d", below, pairs, f.number))
	}
	return settle(experiment.Verdict{
		Claim:   named(shown) + ": Collision's error of frequencies is below the others' error in all settings",
		Section: "8.5", Quote: "outperforms existing approaches in all cases for frequency estimation",
		Criterion: "below in every pair of a setting and a rival",
		Ours:      parts[0], Detail: strings.Join(each, ", ") + "; with 3-ary PrivKV " + parts[1],
	}, held)
}

// everyEpsilon is the claim that Collision is better at every ε.
func (st *study) everyEpsilon(shown []paperFigure) experiment.Verdict {
	var held []bool
	var parts []string
	for reading := range rivalsOf(shown[0]) {
		better := 0
		for k := range st.epsilons {
			all := true
			for _, f := range shown {
				for _, other := range rivalsOf(f)[reading] {
					total := 0.0
					for i := range st.sparsities {
						total += st.gain(f, byCollision, other, i, k)
					}
					all = all && total > 0
				}
			}
			if all {
				better++
			}
		}
		held = append(held, better == len(st.epsilons))
		parts = append(parts, fmt.Sprintf("at %d of %d ε", better, len(st.epsilons)))
	}
	return settle(experiment.Verdict{
		Claim:   named(shown) + ": Collision's error of frequencies is below the others' error at every ε",
		Section: "8.2.5", Quote: "outperforms existing approaches across all privacy regions",
		Criterion: "at every ε below each rival's in each figure, on average over s",
		Ours:      parts[0], Detail: "with 3-ary PrivKV " + parts[1],
	}, held)
}

// cocoOfMeans is the summary's claim about CoCo.
func (st *study) cocoOfMeans(shown []paperFigure) experiment.Verdict {
	average, zero, settings := 0.0, 0, 0
	var parts []string
	for _, f := range shown {
		gain, _, _ := st.reduction(f, byCoCo, byCollision)
		average += gain.Value / float64(len(shown))
		b, n := st.zeroBest(f)
		zero, settings = zero+b, settings+n
		parts = append(parts, fmt.Sprintf("Figure %d %s", f.number, percent(gain)))
	}
	return experiment.Verdict{
		Claim:   named(shown) + ": CoCo's error of means is " + about15.String() + " below Collision's on average",
		Section: "8.5", Quote: "further improve accuracy by about 15% for mean estimation",
		Criterion: fmt.Sprintf("average over all figures and settings %s", about15),
		Holds:     about15.holds(average),
		Ours:      fmt.Sprintf("%.1f %%; an estimate of 0 beats every mechanism in %d of %d settings", 100*average, zero, settings),
		Detail:    strings.Join(parts, ", "),
	}
}

// growth is the claims about pairs of figures of a run.
func (st *study) growth(shown []paperFigure) (out []experiment.Verdict) {
	find := func(number int) (paperFigure, bool) {
		i := slices.IndexFunc(shown, func(f paperFigure) bool { return f.number == number })
		return append(shown, paperFigure{})[max(i, 0)], i >= 0
	}
	for _, p := range pairsOfFigures {
		large, ok := find(p.large)
		small, both := find(p.small)
		if !ok || !both {
			continue
		}
		low, high, settings := math.Inf(1), math.Inf(-1), 0.0
		logs := make([]float64, st.repeats) // of the geometric means
		for i := range st.sparsities {
			for k := range st.epsilons {
				for j, c := range contenders {
					if c.of != "" || c.reference || st.of(large, i, j, k) == nil {
						continue
					}
					gain := stat.Mean(st.of(large, i, j, k), nil) - stat.Mean(st.of(small, i, j, k), nil)
					low, high = min(low, math.Exp(gain)), max(high, math.Exp(gain))
					floats.Add(logs, st.of(large, i, j, k))
					floats.Sub(logs, st.of(small, i, j, k))
					settings++
				}
			}
		}
		floats.Scale(1/settings, logs)
		average := experiment.MeanInterval(logs)
		want := about(p.factor, 0.1)
		out = append(out, experiment.Verdict{
			Claim:   fmt.Sprintf("Figures %d and %d, %s: errors %s", p.small, p.large, large.by.title(), p.said),
			Section: p.section, Quote: p.quote,
			Criterion: fmt.Sprintf("geometric mean over settings and mechanisms %.2f to %.2f times", want.low, want.high),
			Holds:     want.holds(math.Exp(average.Value)),
			Ours:      fmt.Sprintf("%.2f times [%.2f, %.2f]", math.Exp(average.Value), math.Exp(average.Low), math.Exp(average.High)) + st.zeroBeside(large),
			Detail:    fmt.Sprintf("from %.2f to %.2f times", low, high),
		})
	}
	return out
}
