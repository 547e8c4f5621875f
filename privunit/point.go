package privunit

import (
	"cmp"
	"math"
	"math/bits"
	"sort"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// Names of the parameters in Round.Params.
const (
	ParamCandidates = "candidates" // number of candidates of a seed, k
	ParamLikely     = "likely"     // number of candidates with the weight e^ε, r
)

const (
	// DefaultCandidates is k where it is left open.
	DefaultCandidates = 256
	// MaxCandidates is the largest k.
	MaxCandidates = 4096

	// minPadded is the least number of coordinates after the rotation. The sum of that many signed
	// coordinates is near normal, whatever the gradient. It costs time and no accuracy.
	minPadded = 1024
)

// Point holds the public parameters that the error depends on.
type Point struct {
	Dim        int     // coordinates, in [1, fl.MaxDim]
	Epsilon    float64 // local privacy budget, in (0, fl.MaxEpsilon]
	Candidates int     // k, in [2, MaxCandidates]; 0 stands for DefaultCandidates
	Likely     int     // r, in [1, k−1]; 0 stands for the one with the least error
}

// Complete returns p with its parameters filled in. The error is a *fl.ParamError for a parameter
// that is out of range. O(√k·log k).
func (p Point) Complete() (Point, error) {
	p.Candidates = cmp.Or(p.Candidates, DefaultCandidates)
	switch {
	case p.Dim < 1 || p.Dim > fl.MaxDim:
		return p, fl.Invalid("dim", p.Dim, "must be in [1, %d]", fl.MaxDim)
	case !(p.Epsilon > 0 && p.Epsilon <= fl.MaxEpsilon):
		return p, fl.Invalid("epsilon", p.Epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case p.Candidates < 2 || p.Candidates > MaxCandidates:
		return p, fl.Invalid(ParamCandidates, p.Candidates, "must be in [2, %d]", MaxCandidates)
	case p.Likely < 0 || p.Likely >= p.Candidates:
		return p, fl.Invalid(ParamLikely, p.Likely, "must be in [1, candidates − 1 = %d]", p.Candidates-1)
	}
	if p.Likely == 0 {
		// The slope is a concave function of r over a linear one: the error falls up to the best r and rises behind it.
		p.Likely = 1 + sort.Search(p.Candidates-2, func(i int) bool { return p.mse(i+2) >= p.mse(i+1) })
	}
	return p, nil
}

// MSE returns the expected squared error of the mean that is estimated from one report, summed over
// the coordinates, in squared units of Round.Scale, for a gradient of the norm Scale. A shorter one
// of norm ρ·Scale has 1 − ρ² more. Divide by the number of reports for the error of a round. The error
// is Complete's.
func (p Point) MSE() (float64, error) {
	p, err := p.Complete()
	if err != nil {
		return 0, err
	}
	return p.mse(p.Likely), nil
}

func (p Point) mse(likely int) float64 {
	p.Likely = likely
	l := p.law(math.Exp(p.Epsilon), 1)
	return (float64(p.Dim)-1+l.square)/(l.slope*l.slope) - 1
}

// Blanket returns the bound on what shuffled reports reveal.
func (p Point) Blanket() (*privacy.Blanket, error) {
	p, err := p.Complete()
	if err != nil {
		return nil, err
	}
	return privacy.NewBlanket(p.Epsilon, p.Likely, p.Candidates)
}

// Params returns the parameters of a round at a complete point.
func (p Point) Params() fl.Params {
	return fl.Params{ParamCandidates: fl.Int(p.Candidates), ParamLikely: fl.Int(p.Likely)}
}

// PaddedDim returns the number of coordinates after the rotation, d': a power of two and at least 1024.
func (p Point) PaddedDim() int { return max(minPadded, 1<<bits.Len(uint(p.Dim-1))) }

// law is what a reported candidate V is along the rotated unit vector u.
type law struct {
	slope  float64 // m = E⟨V, u⟩
	square float64 // E⟨V, u⟩²
	// bend is the squared error, per coordinate of the unit vector, that does not fall with the number of reports
	// where all clients hold the same gradient. Signs with larger weights sway a sum of signs a little less: E V is
	// not m·u but about m·(u − h/3·u³) for h = E Σ(z³−3z)/E Σ z. The part of u³ beside u has the squared norm
	// (15 − 9)/d'² where u is spread. The rotation turns it with every round.
	bend float64
}

// law returns the law for candidates of weights high and low.
//
// ⟨V, u⟩ is a sum of independent signs with the weights u. It has mean 0, variance 1 and the excess
// kurtosis −2·Σu⁴. With the rotation's random signs, Σu⁴ is (3 − 2·Σx⁴)/d' on average for a unit vector x.
// Here x is taken as spread: Σx⁴ = 0. The quantile of such a sum is z + κ/24·(z³ − 3z) where
// a normal variable's is z (Cornish and Fisher, Moments and Cumulants in the
// Specification of Distributions, 1938). So order statistics follow from normal ones. For a vector with a
// single coordinate κ is −2/d' in the place of −6/d': the slope is too low by 0.1 % at ε = 8 and d' = 1024,
// and by less otherwise.
func (p Point) law(high, low float64) law {
	o := newOrder(p.Candidates, p.Likely)
	kurtosis := -6 / float64(p.PaddedDim())
	gain := (high - low) / (float64(p.Likely)*high + float64(p.Candidates-p.Likely)*low)
	h, padded := o.third/o.first, float64(p.PaddedDim())
	return law{slope: gain * (o.first + kurtosis/24*o.third), square: 1 + gain*o.second, bend: h * h * (2. / 3) / (padded * padded * padded)}
}
