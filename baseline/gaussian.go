package baseline

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/baseline/internal/integers"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/rounded"
)

// Gaussian is the dense Gaussian mechanism in the local model: what most people try first.
//
// # Mechanism
//
// A client clips its gradient to the L2 norm Scale and adds normal noise of standard
// deviation σ to every coordinate. Any two clipped gradients are at most 2·Scale apart. The
// report is (ε, δ)-differentially private against everybody, replace-one. [GaussianSigma] returns σ, the
// least there is: Balle and Wang, Improving the Gaussian Mechanism for Differential Privacy:
// Analytical Calibration and Optimal Denoising, ICML 2018, Theorem 8 and Algorithm 1.
// Round.Delta is δ, in (0, 1). The round has no other parameters.
//
// # Exactness
//
// A report is floor((x + noise)/u) in every coordinate for u = σ/2036.5. The clipped
// gradient is first truncated to multiples of u/32, towards 0, which does not lengthen it.
// The floor is then a function of the continuous mechanism's output. It is drawn
// from tables of integers (package internal/rounded) and never computed from a
// floating-point normal variable, because those leak. See Mironov, On Significance of the Least
// Significant Bits for Differential Privacy, CCS 2012. The tables' law is within t =
// 2^−94 of the true one in total variation, per coordinate. The guarantee is the
// continuous one's with (1+e^ε)·dim·t added to δ, and σ accounts for that.
//
// # Accuracy and cost
//
// The mean of n reports has the standard error σ/√n in every coordinate, more by 2·10^−8 of
// itself for the floor. It is unbiased for the mean of the truncated gradients, whose
// coordinates are off by less than σ/65000. Encode and Add take O(dim) time, about 10 ns
// for a coordinate. A report has 2·dim bytes and a snapshot about 4·dim.
//
// It is no fl.Amplifier. The bounds of package privacy on shuffled reports are for
// randomizers of pure ε, and do not hold for this one.
const Gaussian = "gaussian"

func init() { fl.Register(Gaussian, gaussianFactory{}) }

// GaussianSigma returns the smallest standard deviation of Gaussian noise, rounded up by at most
// 10^−11 of itself, that makes a query of the given L2 sensitivity (epsilon, delta)-
// differentially private: Theorem 8 of Balle and Wang. epsilon in [10^−9, 100], delta in
// [10^−300, 1), sensitivity finite and positive; the error otherwise is a *fl.ParamError
// (wrapped). About 50 evaluations of erfc.
func GaussianSigma(epsilon, delta, sensitivity float64) (_ float64, err error) {
	defer prefix.Error(&err, "gaussian")
	return rounded.Sigma(epsilon, delta, sensitivity)
}

type gaussianFactory struct{}

const (
	// coarsening is how many steps of the grid make one unit of a report, as a power of
	// two: reports of 16 bits then hold every outcome.
	coarsening = 5
	// leastSigma is the least noise in units of Scale. It is below what any ε ≤ 20 and
	// δ ≤ 0.9 need and keeps outcomes below 2^20, 65168/0.22 and the largest noise.
	leastSigma = 0.22
	// slack covers what rounding adds to the norm of a clipped gradient.
	slack = 1 + 0x1p-20
)

// Open implements fl.Factory.
func (gaussianFactory) Open(r fl.Round) (fl.Mechanism, error) {
	pure := r
	pure.Delta = 0 // the only thing in which a local Gaussian differs from ε-LDP
	if err := cmp.Or(pure.CheckLocal(), r.Params.Only()); err != nil {
		return nil, err
	}
	if r.Scale < 0x1p-900 || r.Scale > 0x1p+900 {
		return nil, fl.Invalid("scale", r.Scale, "must be in [2^-900, 2^900]")
	}
	// The table's noise is not quite the normal law's.
	spare := (1 + math.Exp(r.Epsilon)) * float64(r.Dim) * rounded.Distance * (1 + 0x1p-40)
	if !(r.Delta > spare) {
		return nil, fl.Invalid("delta", r.Delta, "must be above %.3g, the noise's distance from the normal law", spare)
	}
	sigma, err := rounded.Sigma(r.Epsilon, (r.Delta-spare)*(1-0x1p-50), 2*r.Scale*slack)
	if err != nil {
		return nil, err
	}
	noise, err := rounded.New()
	if err != nil {
		return nil, err
	}
	step := max(sigma, leastSigma*r.Scale) / rounded.Deviation * (1 + 0x1p-50)
	const unit = 1 << coarsening
	return integers.New(r, integers.Law{
		Perturber: gaussianPerturber{noise: noise, step: step},
		Norm:      2,
		Step:      unit * step,
		// Rounding a normal variable down that is so wide adds a uniform error.
		Variance: rounded.Deviation*rounded.Deviation/(unit*unit) + 1./12,
	})
}

type gaussianPerturber struct {
	noise *rounded.Noise
	step  float64
}

// Perturb implements integers.Perturber. O(dim). Truncation never lengthens the gradient.
func (p gaussianPerturber) Perturb(dst []byte, grad []float64, clip float64, rng *rand.Rand) []byte {
	perStep := 1 / p.step
	dst = slices.Grow(dst, 2*len(grad))
	for _, g := range grad {
		v := int64(g*clip*perStep) + p.noise.Rand(rng)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v>>coarsening))
	}
	return dst
}
