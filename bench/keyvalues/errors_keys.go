package keyvalues

import (
	"fmt"
	"math"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"gonum.org/v1/gonum/stat"
)

// claimsByKeys are those about Figure 7, whose ε the paper gives.
func claimsByKeys(s *sweep, points []*point) []experiment.Verdict {
	const near = 0.2
	var out []experiment.Verdict
	for _, r := range []rival{privkvmOne, kvue, pckvGRR, pckvUE} {
		want, claim, said := 1.0, "proportional to the number of keys", "proportional to the domain size d in PrivKVM, KVUE, PCKV-GRR"
		if r.label == pckvUE.label {
			want, claim, said = 0, "independent of the number of keys", "large domain size does not affect the frequency estimation"
		}
		v := experiment.Verdict{
			Claim: fmt.Sprintf("Figure 7, %s: the MSE of the frequency is %s", r.label, claim), Holds: true,
			Section: overall, Quote: said, Criterion: fmt.Sprintf("exponent of d from d = 100 on %g to %g, but for chance", want-near, want+near),
			Detail: "the correction into [1/n, 1] makes errors at many keys smaller",
		}
		var parts, at []string
		for _, epsilon := range s.epsilons {
			exponent := s.exponent(points, r, epsilon)
			v.Holds = v.Holds && exponent.Low <= want+near && exponent.High >= want-near
			parts = append(parts, fmt.Sprintf("d^%.2f [%.2f, %.2f]", exponent.Value, exponent.Low, exponent.High))
			at = append(at, fmt.Sprint(epsilon))
		}
		v.Ours = fmt.Sprintf("%s at ε = %s", strings.Join(parts, ", "), strings.Join(at, ", "))
		out = append(out, v)
	}
	out = append(out, s.growsBelow100(points), s.virtualFails(points))
	return append(out, s.agreement(points, 0), s.agreement(points, 1))
}

// growsBelow100 is the claim about PCKV-UE's means at few keys.
func (s *sweep) growsBelow100(points []*point) experiment.Verdict {
	var parts []string
	holds := true
	first, many := s.sources[0], s.sources[0]
	for _, from := range s.sources {
		if from.dim <= 100 {
			many = from
		}
	}
	for _, epsilon := range s.epsilons {
		a, b := find(points, many.name, many.dim, epsilon, pckvUE.label), find(points, first.name, first.dim, epsilon, pckvUE.label)
		ratio := s.geometric([][2]*point{{a, b}}, 1)
		holds = holds && ratio.Value > 1
		parts = append(parts, fmt.Sprintf("%s at ε = %g", times(ratio), epsilon))
	}
	return experiment.Verdict{
		Claim:   "Figure 7, PCKV-UE: the MSE of the mean grows with the number of keys up to 100",
		Section: overall, Quote: "For PCKV-UE, the increasing MSE […] when d<100",
		Criterion: fmt.Sprintf("larger at d = %d than at d = %d", many.dim, first.dim),
		Holds:     holds, Ours: strings.Join(parts, ", "),
	}
}

// virtualFails is the claim about virtual iterations at many keys.
func (s *sweep) virtualFails(points []*point) experiment.Verdict {
	from, epsilon := s.sources[len(s.sources)-1], s.epsilons[0]
	ratio := s.geometric([][2]*point{{find(points, from.name, from.dim, epsilon, privkvmVirtual.label), find(points, from.name, from.dim, epsilon, privkvmOne.label)}}, 1)
	return experiment.Verdict{
		Claim:   "Figure 7: PrivKVM (1r5v) is worse than PrivKVM (c = 1) in the MSE of the mean at many keys and a small ε",
		Section: overall, Quote: "does not work well for a large domain size",
		Criterion: fmt.Sprintf("more than 1 times the error at d = %d and ε = %g", from.dim, epsilon),
		Holds:     ratio.Value > 1, Ours: times(ratio),
	}
}

// exponent is the power of d that fits the errors of a frequency from d = 100 on, with its interval over the
// repeats.
func (s *sweep) exponent(points []*point, r rival, epsilon float64) experiment.Interval {
	slopes := make([]float64, s.repeats)
	for repeat := range slopes {
		var x, y []float64
		for _, from := range s.sources {
			if from.dim >= 100 {
				x = append(x, math.Log(float64(from.dim)))
				y = append(y, math.Log(find(points, from.name, from.dim, epsilon, r.label).values[0][repeat]))
			}
		}
		_, slopes[repeat] = stat.LinearRegression(x, y, nil, false)
	}
	return experiment.MeanInterval(slopes)
}
