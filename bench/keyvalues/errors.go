package keyvalues

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

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
		rivals:     allRivals,
		gauges:     []gauge{{frequency, 0}, {mean, 0}, {frequency, topKeys}, {mean, topKeys}},
		withTheory: true,
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

// claimsByEpsilon are those of Section 6 about Figure 6.
func claimsByEpsilon(s *sweep, points []*point) []experiment.Verdict {
	largest := s.epsilons[len(s.epsilons)-1]
	out := []experiment.Verdict{
		s.smallest(points, 0, 0), s.smallest(points, 1, 2),
		s.agreement(points, 0), s.agreement(points, 1), s.agreement(points, 2), s.agreement(points, 3),
	}
	at := func(by law, epsilon float64, r rival, gauge int) float64 {
		return find(points, string(by), 100, epsilon, r.label).value(gauge).Value
	}
	falls := at(uniformLaw, largest, privkvmOne, 1) / at(uniformLaw, 0.5, privkvmOne, 1)
	out = append(out, experiment.Verdict{
		Claim:  "PrivKVM (c = 1): the MSE of the mean stops falling after ε = 0.5",
		Holds:  falls > 0.9,
		Detail: fmt.Sprintf("at ε = %g it is %.2f times that at 0.5 and %.2f times that at 2, uniform keys", largest, falls, at(uniformLaw, largest, privkvmOne, 1)/at(uniformLaw, 2, privkvmOne, 1)),
	})
	same := 0
	for _, epsilon := range s.epsilons {
		if at(gaussianLaw, epsilon, privkvmVirtual, 0) == at(gaussianLaw, epsilon, privkvmOne, 0) {
			same++
		}
	}
	out = append(out, experiment.Verdict{
		Claim:  "PrivKVM: c = 1 and 1r5v have the same MSE of the frequency",
		Holds:  same == len(s.epsilons),
		Detail: fmt.Sprintf("for the same reports, at %d of %d ε", same, len(s.epsilons)),
	})
	for gauge, claim := range []string{1: "larger with Gaussian keys than with uniform ones, all keys", 3: "smaller with Gaussian keys than with uniform ones, top 20"} {
		if claim == "" {
			continue
		}
		holds, settings, total := 0, 0, 0.0
		for _, epsilon := range s.epsilons {
			for _, r := range []rival{pckvUE, pckvGRR} {
				settings++
				ratio := at(gaussianLaw, epsilon, r, gauge) / at(uniformLaw, epsilon, r, gauge)
				total += math.Log(ratio)
				if (ratio > 1) == (gauge == 1) {
					holds++
				}
			}
		}
		average := math.Exp(total / float64(settings))
		out = append(out, experiment.Verdict{
			Claim:  "PCKV's MSE of the mean is " + claim,
			Holds:  (average > 1) == (gauge == 1),
			Detail: fmt.Sprintf("%.2f times in the geometric mean, so in %d of %d settings", average, holds, settings),
		})
	}
	return out
}

// claimsByKeys are those about Figure 7.
func claimsByKeys(s *sweep, points []*point) []experiment.Verdict {
	out := []experiment.Verdict{s.smallest(points, 0, 0), s.smallest(points, 1, 2), s.agreement(points, 0), s.agreement(points, 1)}
	for _, r := range []rival{privkvmOne, kvue, pckvGRR, pckvUE} {
		want, claim := 1.0, "proportional to the number of keys"
		if r.label == pckvUE.label {
			want, claim = 0, "independent of the number of keys"
		}
		v := experiment.Verdict{Claim: r.label + ": the MSE of the frequency is " + claim, Holds: true}
		var parts []string
		for _, epsilon := range s.epsilons {
			var x, y []float64
			for _, from := range s.sources {
				if from.dim >= 100 {
					x = append(x, math.Log(float64(from.dim)))
					y = append(y, math.Log(find(points, from.name, from.dim, epsilon, r.label).value(0).Value))
				}
			}
			_, slope := stat.LinearRegression(x, y, nil, false)
			v.Holds = v.Holds && math.Abs(slope-want) < 0.2
			parts = append(parts, fmt.Sprintf("%.2f at ε = %g", slope, epsilon))
		}
		v.Detail = fmt.Sprintf("exponent %s, from d = 100 on; %g is claimed", strings.Join(parts, ", "), want)
		out = append(out, v)
	}
	return out
}

// smallest compares the better one of PCKV's mechanisms with the others, above an ε.
func (s *sweep) smallest(points []*point, gauge int, above float64) experiment.Verdict {
	gain, settings := 0.0, 0
	var not []string
	for _, from := range s.sources {
		for _, epsilon := range s.epsilons {
			if epsilon <= above {
				continue
			}
			own, other := math.Inf(1), math.Inf(1)
			for _, r := range s.rivals {
				mse := find(points, from.name, from.dim, epsilon, r.label).value(gauge).Value
				if r.isPCKV() {
					own = min(own, mse)
				} else {
					other = min(other, mse)
				}
			}
			settings++
			gain += math.Log(other / own)
			if own > other {
				not = append(not, fmt.Sprintf("%s keys, d = %d, ε = %g", from.name, from.dim, epsilon))
			}
		}
	}
	g := s.gauges[gauge]
	claim := fmt.Sprintf("PCKV-UE or PCKV-GRR has the smallest %s, %s", g.title(), g.scope())
	if above > 0 {
		claim += fmt.Sprintf(", for ε > %g", above)
	}
	detail := fmt.Sprintf("in %d of %d settings; the best other one has %.3g times the error in the geometric mean", settings-len(not), settings, math.Exp(gain/float64(settings)))
	if len(not) > 0 {
		detail += "; not at " + strings.Join(not, "; ")
	}
	return experiment.Verdict{Claim: claim, Holds: len(not) == 0, Detail: detail}
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
	claim := fmt.Sprintf("PCKV's %s, %s, is that of Theorem 4 but for chance, where frequencies are at least three standard deviations", g.title(), g.scope())
	if g.of == mean {
		allowed = slack
		claim = fmt.Sprintf("PCKV's %s, %s, is within %g %% of the theory where that is below %g, but for chance", g.title(), g.scope(), 100*slack, smallError)
	}
	low, high, settings, within := math.Inf(1), math.Inf(-1), 0, 0
	for _, p := range points {
		t := p.theory[gauge]
		if t.mse == 0 || g.of == mean && t.mse >= smallError || g.of == frequency && t.corrected {
			continue
		}
		ratio := p.value(gauge).Value / t.mse
		low, high = min(low, ratio), max(high, ratio)
		settings++
		if math.Abs(ratio-1) <= allowed+deviations*math.Sqrt(t.variance)/t.mse {
			within++
		}
	}
	detail := fmt.Sprintf("%d of %d settings", within, settings)
	if settings > 0 {
		detail += fmt.Sprintf(", measured over theory from %.3g to %.3g", low, high)
	}
	return experiment.Verdict{Claim: claim, Holds: within == settings && settings > 0, Detail: detail}
}
