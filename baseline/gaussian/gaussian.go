package gaussian

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/baseline/internal/integers"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rounded"
)

// Name is the registered name.
const Name = "gaussian"

func init() { fl.Register(Name, factory{}) }

// Sigma returns the smallest standard deviation of Gaussian noise, rounded up by at most
// 10^−11 of itself, that makes a query of the given L2 sensitivity (epsilon, delta)-
// differentially private: Theorem 8 of Balle and Wang. epsilon in [10^−9, 100], delta in
// [10^−300, 1), sensitivity finite and positive; the error otherwise is a *fl.ParamError
// (wrapped). About 50 evaluations of erfc.
func Sigma(epsilon, delta, sensitivity float64) (float64, error) {
	sigma, err := rounded.Sigma(epsilon, delta, sensitivity)
	if err != nil {
		return 0, fmt.Errorf("gaussian: %w", err)
	}
	return sigma, nil
}

type factory struct{}

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
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
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
		Perturber: perturber{noise: noise, step: step},
		Norm:      2,
		Step:      unit * step,
		// Rounding a normal variable down that is so wide adds a uniform error.
		Variance: rounded.Deviation*rounded.Deviation/(unit*unit) + 1./12,
	})
}

type perturber struct {
	noise *rounded.Noise
	step  float64
}

// Perturb implements integers.Perturber. O(dim). Truncation never lengthens the gradient.
func (p perturber) Perturb(dst []byte, grad []float64, clip float64, rng *rand.Rand) []byte {
	perStep := 1 / p.step
	dst = slices.Grow(dst, 2*len(grad))
	for _, g := range grad {
		v := int64(g*clip*perStep) + p.noise.Rand(rng)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v>>coarsening))
	}
	return dst
}
