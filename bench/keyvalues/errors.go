package keyvalues

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// byEpsilon is Figure 6, byKeys is Figure 7.
var (
	byEpsilon = ofSingles{number: 6, title: "errors against ε", sweep: sweepEpsilon, claims: claimsByEpsilon}
	byKeys    = ofSingles{number: 7, title: "errors against the number of keys", sweep: sweepKeys, claims: claimsByKeys}
)

func sweepEpsilon(quick bool, clients int) sweep {
	s := sweep{
		sources:    []source{singlesOf(uniformLaw, clients, 100), singlesOf(gaussianLaw, clients, 100)},
		epsilons:   []float64{0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6},
		rivals:     slices.Insert(slices.Clone(allRivals), 2, privkvmReal),
		gauges:     []gauge{{frequency, 0}, {mean, 0}, {frequency, topKeys}, {mean, topKeys}},
		withTheory: true,
		notes:      []string{"PrivKVM (c = 5) has five reports of every client. ε is the budget of all five together."},
	}
	if quick {
		s.epsilons = []float64{0.5, 2, 3, 6}
	}
	for i, shown := range []struct {
		by    law
		first int
	}{{uniformLaw, 0}, {gaussianLaw, 0}, {gaussianLaw, 2}} {
		for gauge := shown.first; gauge < shown.first+2; gauge++ {
			s.views = append(s.views, view{title: fmt.Sprintf("(%c) %s", 'a'+i, shown.by), source: string(shown.by), gauge: gauge})
		}
	}
	return s
}

func sweepKeys(quick bool, clients int) sweep {
	s := sweep{
		sources:    allDims(clients, []int{20, 50, 100, 200, 500, 1000, 2000}),
		epsilons:   []float64{1, 5},
		rivals:     allRivals,
		gauges:     []gauge{{frequency, topKeys}, {mean, topKeys}},
		againstDim: true,
		withTheory: true,
	}
	if quick {
		s.sources = allDims(clients, []int{100, 400})
	}
	for i, epsilon := range s.epsilons {
		for gauge := range s.gauges {
			s.views = append(s.views, view{title: fmt.Sprintf("(%c) Gaussian, ε = %g", 'a'+i, epsilon), epsilon: epsilon, gauge: gauge})
		}
	}
	return s
}

// topKeys is the number of keys that the paper looks at.
const topKeys = 20

// claimsByEpsilon are the claims of Section 6 about Figure 6.
func claimsByEpsilon(s *sweep, points []*point) []experiment.Verdict {
	same := 0
	for _, epsilon := range s.epsilons {
		at := func(r rival) float64 {
			return find(points, string(gaussianLaw), 100, epsilon, r.label).value(0).Value
		}
		if at(privkvmVirtual) == at(privkvmOne) {
			same++
		}
	}
	out := []experiment.Verdict{{
		Claim:   "Figure 6: PrivKVM (c = 1) and PrivKVM (1r5v) have the same MSE of the frequency",
		Section: overall, Quote: "have the same MSE since the frequency is estimated by",
		Criterion: "the same at every ε",
		Holds:     same == len(s.epsilons),
		Ours:      fmt.Sprintf("the same at %d of %d ε", same, len(s.epsilons)),
		Detail:    "both get the same reports",
	}}
	for _, gauge := range []int{0, 2} {
		out = append(out, s.muchLess(points, gauge, 0, "The proposed mechanisms (PCKV-UE and PCKV-GRR) have much less MSE"))
	}
	out = append(out, s.virtualImproves(points), s.virtualIsLarger(points), s.stopsFalling(points))
	for _, gauge := range []int{1, 3} {
		out = append(out, s.muchLess(points, gauge, 2, "much smaller than other ones when ϵ is relatively large"))
	}
	for gauge := range s.gauges {
		v := s.agreement(points, gauge)
		v.Section, v.Quote = overall, "the small gap between the theoretical and empirical results"
		out = append(out, v)
	}
	return append(out, s.byLaw(points, 1, "larger"), s.byLaw(points, 3, "smaller"), s.littleInfluence(points), s.realRounds(points))
}

// overall is the paper's section about synthetic data.
const overall = "6.1"

// isReal says whether a rival is not a curve of the paper.
func (r rival) isReal() bool { return r.label == privkvmReal.label }

// muchLess is the claim that both of PCKV's mechanisms are far better than all others, above an ε. Figures 6 and 10
// differ in where.
func (s *sweep) muchLess(points []*point, gauge int, above float64, quote string) experiment.Verdict {
	const far = 2 // times the error
	var pairs [][2]*point
	var not []string
	for _, from := range s.sources {
		for _, epsilon := range s.epsilons {
			if epsilon <= above {
				continue
			}
			var own, other *point
			for _, r := range s.rivals {
				p := find(points, from.name, from.dim, epsilon, r.label)
				switch {
				case r.isReal():
				case r.isPCKV() && (own == nil || p.value(gauge).Value > own.value(gauge).Value):
					own = p // the worse one
				case !r.isPCKV() && (other == nil || p.value(gauge).Value < other.value(gauge).Value):
					other = p
				}
			}
			pairs = append(pairs, [2]*point{other, own})
			if own.value(gauge).Value >= other.value(gauge).Value {
				not = append(not, fmt.Sprintf("%s keys, d = %d, ε = %g", from.name, from.dim, epsilon))
			}
		}
	}
	g, next := s.gauges[gauge], s.geometric(pairs, gauge)
	v := experiment.Verdict{
		Claim:   fmt.Sprintf("Figure %d: PCKV-UE and PCKV-GRR both have a much smaller %s, %s, than the others", s.number, g.title(), g.scope()),
		Section: overall, Quote: quote,
		Criterion: fmt.Sprintf("smaller in every setting, and the best other at least %d times on average", far),
		Holds:     len(not) == 0 && next.Value >= far,
		Ours:      margin(next, len(pairs)-len(not), len(pairs)),
		Detail:    "the best other one over the worse of the two, in the geometric mean",
	}
	if above > 0 {
		v.Claim += fmt.Sprintf(", for ε > %g", above)
	}
	if len(not) > 0 {
		v.Detail += "; not at " + strings.Join(not, "; ")
	}
	return v
}

// virtualImproves is the claim that virtual iterations help for larger ε.
func (s *sweep) virtualImproves(points []*point) experiment.Verdict {
	const gauge, larger = 1, 2
	var pairs [][2]*point
	better, below, settings := 0, 0, 0
	for _, from := range s.sources {
		for _, epsilon := range s.epsilons {
			p := [2]*point{find(points, from.name, from.dim, epsilon, privkvmVirtual.label), find(points, from.name, from.dim, epsilon, privkvmOne.label)}
			smaller := p[0].value(gauge).Value < p[1].value(gauge).Value
			settings++
			if epsilon < larger {
				if smaller {
					below++
				}
				continue
			}
			if smaller {
				better++
			}
			pairs = append(pairs, p)
		}
	}
	return experiment.Verdict{
		Claim:   "Figure 6: PrivKVM (1r5v) has a smaller MSE of the mean than PrivKVM (c = 1) for larger ε",
		Section: overall, Quote: "improves the accuracy of PrivKVM (c=1) under larger ϵ",
		Criterion: fmt.Sprintf("smaller in every setting with ε ≥ %d, all keys", larger),
		Holds:     better == len(pairs),
		Ours:      fmt.Sprintf("%s, smaller in %d of %d settings", times(s.geometric(pairs, gauge)), better, len(pairs)),
		Detail:    fmt.Sprintf("in the geometric mean; smaller in %d of %d settings with a smaller ε", below, settings-len(pairs)),
	}
}

// virtualIsLarger is the claim that PrivKVM (1r5v) is worse than the other mechanisms with better means.
func (s *sweep) virtualIsLarger(points []*point) experiment.Verdict {
	const gauge = 1
	var parts []string
	least := experiment.Interval{Value: math.Inf(1)}
	for _, r := range []rival{kvue, pckvUE, pckvGRR} {
		var pairs [][2]*point
		larger := 0
		for _, from := range s.sources {
			for _, epsilon := range s.epsilons {
				p := [2]*point{find(points, from.name, from.dim, epsilon, privkvmVirtual.label), find(points, from.name, from.dim, epsilon, r.label)}
				if p[0].value(gauge).Value > p[1].value(gauge).Value {
					larger++
				}
				pairs = append(pairs, p)
			}
		}
		ratio := s.geometric(pairs, gauge)
		if ratio.Value < least.Value {
			least = ratio
		}
		parts = append(parts, fmt.Sprintf("of %s %s, larger in %d of %d settings", r.label, times(ratio), larger, len(pairs)))
	}
	return experiment.Verdict{
		Claim:   "Figure 6: PrivKVM (1r5v) has a larger MSE of the mean than KVUE and PCKV",
		Section: overall, Quote: "improves PrivKVM (c=1), but the estimation error is larger than",
		Criterion: "more than 1 times each other's, in the geometric mean over settings",
		Holds:     least.Value > 1,
		Ours:      "at least " + times(least),
		Detail:    "all keys; " + strings.Join(parts, "; "),
	}
}

// littleInfluence is the claim that the law hardly matters to frequencies.
func (s *sweep) littleInfluence(points []*point) experiment.Verdict {
	const gauge = 0
	between := span{0.8, 1.25}
	holds := true
	var parts []string
	for _, r := range s.rivals {
		if r.isReal() {
			continue
		}
		var pairs [][2]*point
		for _, epsilon := range s.epsilons {
			pairs = append(pairs, [2]*point{find(points, string(gaussianLaw), 100, epsilon, r.label), find(points, string(uniformLaw), 100, epsilon, r.label)})
		}
		ratio := s.geometric(pairs, gauge)
		holds = holds && between.holds(ratio.Value)
		parts = append(parts, fmt.Sprintf("%s %.2f", r.label, ratio.Value))
	}
	return experiment.Verdict{
		Claim:   "Figure 6: the law of the keys has little influence on the MSE of the frequency",
		Section: overall, Quote: "the distribution has little influence on MSE",
		Criterion: "Gaussian over uniform 0.8 to 1.25 times for each mechanism, geometric mean over ε",
		Holds:     holds,
		Ours:      strings.Join(parts, ", ") + " times",
	}
}

// stopsFalling is the claim about the means of PrivKVM with one round, up to the largest ε.
func (s *sweep) stopsFalling(points []*point) experiment.Verdict {
	const flat, from = 0.9, 0.5 // times the error; ε
	at := func(epsilon float64) *point { return find(points, string(uniformLaw), 100, epsilon, privkvmOne.label) }
	until, ratio := from, experiment.Interval{}
	for _, epsilon := range s.epsilons {
		if epsilon <= from {
			continue
		}
		ratio = s.geometric([][2]*point{{at(epsilon), at(from)}}, 1)
		if ratio.Value >= flat {
			until = epsilon
		}
	}
	last := s.epsilons[len(s.epsilons)-1]
	return experiment.Verdict{
		Claim:   "Figure 6: the MSE of the mean of PrivKVM (c = 1) stops falling after ε = 0.5",
		Section: overall, Quote: "does not decrease any more after ϵ=0.5",
		Criterion: fmt.Sprintf("at ε = %g at least %g times the error at ε = %g", last, flat, from),
		Holds:     ratio.Value >= flat,
		Ours:      fmt.Sprintf("%s at ε = %g", times(ratio), last),
		Detail:    fmt.Sprintf("uniform keys; at least %g times up to ε = %g", flat, until),
	}
}

// byLaw compares the errors of PCKV's means in Gaussian data with those in uniform data.
func (s *sweep) byLaw(points []*point, gauge int, said string) experiment.Verdict {
	var pairs [][2]*point
	holds := 0
	for _, epsilon := range s.epsilons {
		for _, r := range []rival{pckvUE, pckvGRR} {
			p := [2]*point{find(points, string(gaussianLaw), 100, epsilon, r.label), find(points, string(uniformLaw), 100, epsilon, r.label)}
			if (p[0].value(gauge).Value > p[1].value(gauge).Value) == (said == "larger") {
				holds++
			}
			pairs = append(pairs, p)
		}
	}
	average := s.geometric(pairs, gauge)
	quote := "all keys in Gaussian distribution is larger than in Uniform"
	if said != "larger" {
		quote = "of the top 20 frequent keys is much smaller"
	}
	return experiment.Verdict{
		Claim:   fmt.Sprintf("Figure 6: PCKV's MSE of the mean is %s with Gaussian keys than with uniform ones, %s", said, s.gauges[gauge].scope()),
		Section: overall, Quote: quote,
		Criterion: said + " in the geometric mean over mechanisms and ε",
		Holds:     (average.Value > 1) == (said == "larger"),
		Ours:      times(average),
		Detail:    fmt.Sprintf("%s in %d of %d settings of a mechanism and an ε", said, holds, len(pairs)),
	}
}

// best compares the better one of PCKV's mechanisms with the others, on data that no paper has.
func (s *sweep) best(points []*point, gauge int, name string) experiment.Verdict {
	var pairs [][2]*point
	holds := 0
	for _, from := range s.sources {
		for _, epsilon := range s.epsilons {
			var own, other *point
			for _, r := range s.rivals {
				p := find(points, from.name, from.dim, epsilon, r.label)
				best := &other
				if r.isPCKV() {
					best = &own
				}
				if *best == nil || p.value(gauge).Value < (*best).value(gauge).Value {
					*best = p
				}
			}
			pairs = append(pairs, [2]*point{other, own})
			if own.value(gauge).Value <= other.value(gauge).Value {
				holds++
			}
		}
	}
	g := s.gauges[gauge]
	return experiment.Verdict{
		Claim:     fmt.Sprintf("%s: PCKV-UE or PCKV-GRR has the smallest %s, %s", name, g.title(), g.scope()),
		Criterion: "at every ε",
		Holds:     holds == len(pairs),
		Ours:      margin(s.geometric(pairs, gauge), holds, len(pairs)),
		Detail:    "against the best other one, in the geometric mean",
	}
}

const (
	// slack is by how much the errors of means may differ from the theorem's first-order
	// approximation, smallError where it is one.
	slack      = 0.25
	smallError = 0.01
	// deviations of the repeats that are put down to chance.
	deviations = 5
)

// agreement compares the errors of PCKV with the theory, which is exact for frequencies.
func (s *sweep) agreement(points []*point, gauge int) experiment.Verdict {
	g, allowed := s.gauges[gauge], 0.0
	where := fmt.Sprintf("within %d standard deviations, where every frequency is at least three standard deviations of its estimate", deviations)
	if g.of == mean {
		allowed = slack
		where = fmt.Sprintf("within %g %% and %d standard deviations, where the theory is below %g", 100*slack, deviations, smallError)
	}
	low, high, settings, within := math.Inf(1), math.Inf(-1), 0, 0
	least, most, left := math.Inf(1), math.Inf(-1), 0
	for _, p := range points {
		t := p.theory[gauge]
		if t.mse == 0 {
			continue
		}
		ratio := p.value(gauge).Value / t.mse
		if g.of == mean && t.mse >= smallError || g.of == frequency && t.corrected {
			left++
			least, most = min(least, ratio), max(most, ratio)
			continue
		}
		low, high = min(low, ratio), max(high, ratio)
		settings++
		if math.Abs(ratio-1) <= allowed+deviations*math.Sqrt(t.variance)/t.mse {
			within++
		}
	}
	v := experiment.Verdict{
		Claim:     fmt.Sprintf("Figure %d: PCKV's %s, %s, is Theorem 4's", s.number, g.title(), g.scope()),
		Holds:     within == settings && settings > 0,
		Criterion: where,
		Ours:      fmt.Sprintf("in %d of %d settings", within, settings),
	}
	if settings > 0 {
		v.Ours += fmt.Sprintf(", %.3g to %.3g times the theory", low, high)
	}
	if left > 0 {
		v.Detail = fmt.Sprintf("the other %d settings have %.3g to %.3g times the theory", left, least, most)
	}
	return v
}
