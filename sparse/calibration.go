package sparse

import "github.com/hushgrad/hushgrad/fl"

// Joint is the joint law of the two hits of one coordinate in one report: that
// the report's slot is the slot of the coordinate's own item, and that it is
// the slot of the item with the opposite sign.
type Joint struct {
	Own      float64
	Opposite float64
	Both     float64
}

// variance of a·1{own} + b·1{opposite}.
func (p Joint) variance(a, b float64) float64 {
	return a*a*p.Own*(1-p.Own) + b*b*p.Opposite*(1-p.Opposite) + 2*a*b*(p.Both-p.Own*p.Opposite)
}

// Calibration holds the hit probabilities of a mechanism: for a coordinate
// among the client's s (In) and for any other (Out, where own and opposite are
// interchangeable).
type Calibration struct {
	In, Out Joint
}

// meanGain makes gain·(1{own} − 1{opposite}) unbiased for the entry x_j.
func (c Calibration) meanGain() float64 { return 1 / (c.In.Own - c.In.Opposite) }

// frequencyGain makes gain·(1{own} + 1{opposite} − 2·Out.Own) unbiased for |x_j|.
func (c Calibration) frequencyGain() float64 {
	return 1 / (c.In.Own + c.In.Opposite - 2*c.Out.Own)
}

// MeanVariance returns the variance that one report adds to the mean of a
// coordinate inside and outside the client's support.
func (c Calibration) MeanVariance() (in, out float64) {
	g := c.meanGain()
	return c.In.variance(g, -g), c.Out.variance(g, -g)
}

// FrequencyVariance is MeanVariance for the frequency of a coordinate.
func (c Calibration) FrequencyVariance() (in, out float64) {
	g := c.frequencyGain()
	return c.In.variance(g, g), c.Out.variance(g, g)
}

// ItemVariance is MeanVariance for the frequency of an item: the client's
// own, the one with the opposite sign, and any other.
func (c Calibration) ItemVariance() (own, opposite, out float64) {
	a, b := c.itemGains()
	return c.In.variance(a, b), c.In.variance(b, a), c.Out.variance(a, b)
}

// itemGains makes a·1{own} + b·1{opposite} + const unbiased for 1{x has
// the item}, as half the sum of the frequency and the mean.
func (c Calibration) itemGains() (a, b float64) {
	m, s := c.meanGain(), c.frequencyGain()
	return (s + m) / 2, (s - m) / 2
}

// MeanMSE is the squared error of one report's estimate of a ternary vector
// with s non-zeros, summed over the dim coordinates.
func (c Calibration) MeanMSE(dim, s int) float64 {
	in, out := c.MeanVariance()
	return float64(s)*in + float64(dim-s)*out
}

// FrequencyMSE is MeanMSE for the frequency of a coordinate.
func (c Calibration) FrequencyMSE(dim, s int) float64 {
	in, out := c.FrequencyVariance()
	return float64(s)*in + float64(dim-s)*out
}

// ItemMSE is MeanMSE for the frequencies of the 2·dim items.
func (c Calibration) ItemMSE(dim, s int) float64 {
	own, opposite, out := c.ItemVariance()
	return float64(s)*(own+opposite) + 2*float64(dim-s)*out
}

// counts are the hits of n reports on the two items of one coordinate.
type counts struct{ plus, minus, n float64 }

// gains turn counts into estimates: the gains of one calibration, for many coordinates.
type gains struct{ mean, frequency, foreign float64 }

func (c Calibration) gains() gains {
	return gains{mean: c.meanGain(), frequency: c.frequencyGain(), foreign: 2 * c.Out.Own}
}

func (g gains) meanOf(k counts) float64 { return g.mean * (k.plus - k.minus) / k.n }

func (g gains) frequencyOf(k counts) float64 { return g.frequency * ((k.plus+k.minus)/k.n - g.foreign) }

// estimatesFrequency is false when a coordinate of the client is hit, by either sign,
// as often as any other: CoCo with t = 2s, where every pair has the same weight.
func (c Calibration) estimatesFrequency() bool {
	return c.In.Own+c.In.Opposite-2*c.Out.Own > 1e-9*c.In.Own
}

// validate guards against parameters under which nothing can be estimated.
func (c Calibration) validate() error {
	if g := c.In.Own - c.In.Opposite; !(g > 0) {
		return fl.Invalid("epsilon", g, "the difference of the hit probabilities of + and - must be > 0")
	}
	return nil
}
