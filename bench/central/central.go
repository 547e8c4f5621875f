// Package central is the Gaussian mechanism of a trusted server. Use it to see how accurate
// central differential privacy would be, as an upper bound for everything else here.
// Start with [New].
//
// It is not an fl.Mechanism and cannot be one. The server of this module is not trusted, and
// the server of this mechanism sees every gradient.
//
// In each of T releases the server publishes the mean of the gradients of all clients,
// clipped to an L2 norm, with normal noise. Replacing one client moves every sum by
// at most twice that norm. Compositions of Gaussian mechanisms are Gaussian: T releases
// reveal exactly what one with √T times the sensitivity reveals. The noise is the least for which
// that one is (ε, δ)-differentially private: Balle and Wang, Improving the Gaussian
// Mechanism for Differential Privacy: Analytical Calibration and Optimal Denoising, ICML 2018,
// Theorem 8. Clients are not sampled, so nothing is amplified.
//
// Noise and sum are integers on a grid of 2^−31 standard deviations (package
// internal/rounded): what is released is a function of what the continuous mechanism would
// release.
package central

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rounded"
)

// Gaussian is a sequence of releases.
type Gaussian struct {
	// Clip is the L2 norm that no client's gradient exceeds. The caller clips.
	Clip float64
	// Multiplier is the standard deviation of the noise on a sum, in units of Clip.
	Multiplier float64
}

// New returns the mechanism with the smallest Multiplier for which the given number of releases
// together are (epsilon, delta)-differentially private, replace-one. epsilon is in [10^−9,
// fl.MaxEpsilon], delta in (0, 1), releases in [1, 10^6] and clip finite and positive; the
// error otherwise is a *fl.ParamError (wrapped).
func New(epsilon, delta float64, releases int, clip float64) (*Gaussian, error) {
	switch {
	case !(epsilon > 0 && epsilon <= fl.MaxEpsilon):
		return nil, fmt.Errorf("central: %w", fl.Invalid("epsilon", epsilon, "must be in (0, %d]", fl.MaxEpsilon))
	case !(delta > 0 && delta < 1):
		return nil, fmt.Errorf("central: %w", fl.Invalid("delta", delta, "must be in (0, 1)"))
	case releases < 1 || releases > 1_000_000:
		return nil, fmt.Errorf("central: %w", fl.Invalid("releases", releases, "must be in [1, 10^6]"))
	case !(clip >= 0x1p-900 && clip <= 0x1p900):
		return nil, fmt.Errorf("central: %w", fl.Invalid("clip", clip, "must be in [2^-900, 2^900]"))
	}
	// What the noise's law is off, for every coordinate of every release there may be.
	spare := (1 + math.Exp(epsilon)) * fl.MaxDim * float64(releases) * rounded.Distance * (1 + 0x1p-40)
	if !(delta > spare) {
		return nil, fmt.Errorf("central: %w", fl.Invalid("delta", delta, "must be above %.3g, the noise's distance from the normal law", spare))
	}
	sigma, err := rounded.Sigma(epsilon, (delta-spare)*(1-0x1p-50), 2*math.Sqrt(float64(releases))*(1+0x1p-50))
	if err != nil {
		return nil, fmt.Errorf("central: %w", err)
	}
	return &Gaussian{Clip: clip, Multiplier: sigma}, nil
}

// Release returns the mean of n gradients, given their sum, with noise. The standard errors
// are the noise's, Multiplier·Clip/n, and hardly more. The noise also covers what the
// rounding to the grid adds to the sensitivity, less than one part in 10^6 for 10^5
// coordinates and a Multiplier of 20. A nil rng is a fresh fl.NewRand.
//
// Clip and Multiplier must be in [2^−900, 2^900], n at least 1, and the elements of sum finite
// and below 2^20 standard deviations of the noise; the error otherwise is a *fl.ParamError
// (wrapped). O(len(sum)).
func (g *Gaussian) Release(sum []float64, n int, rng *rand.Rand) (fl.Series, error) {
	step, err := g.step(len(sum))
	if err != nil {
		return fl.Series{}, fmt.Errorf("central: %w", err)
	}
	if n < 1 {
		return fl.Series{}, fmt.Errorf("central: %w", fl.Invalid("n", n, "must be at least 1"))
	}
	noise, err := rounded.New()
	if err != nil {
		return fl.Series{}, err
	}
	for j, v := range sum {
		if !(math.Abs(v)/step < 1<<51) { // also when NaN
			return fl.Series{}, fmt.Errorf("central: %w", fl.Invalid("sum", v, "must be finite and at most %g, coordinate %d is not", step*(1<<51), j))
		}
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	out := fl.Series{Value: make([]float64, len(sum)), StdErr: make([]float64, len(sum))}
	for j, v := range sum {
		k := int64(v/step) + noise.Wide(rng)
		out.Value[j] = step * (float64(k) + 0.5) / float64(n)
		out.StdErr[j] = step * rounded.WideDeviation / float64(n)
	}
	return out, nil
}

// step returns the spacing of the grid. Quotients below 2^51 are rounded by less than half
// a step and then truncated by less than one, so that two sums end up at most 2·Clip +
// 2·step·√dim apart; with σ = WideDeviation·step, and σ = Multiplier·Clip for the
// first part, that is an equation for step.
func (g *Gaussian) step(dim int) (float64, error) {
	for name, v := range map[string]float64{"clip": g.Clip, "multiplier": g.Multiplier} {
		if !(v >= 0x1p-900 && v <= 0x1p900) {
			return 0, fl.Invalid(name, v, "must be in [2^-900, 2^900]")
		}
	}
	left := rounded.WideDeviation - g.Multiplier*math.Sqrt(float64(dim))
	if !(left > rounded.WideDeviation/2) {
		return 0, fl.Invalid("multiplier", g.Multiplier, "must be at most %.3g for %d coordinates", rounded.WideDeviation/2/math.Sqrt(float64(dim)), dim)
	}
	// The clipping was done in floating-point numbers, and so were the sums.
	return g.Multiplier * g.Clip * (1 + 0x1p-20) / left, nil
}
