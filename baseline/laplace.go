package baseline

import (
	"cmp"
	"math"

	"github.com/hushgrad/hushgrad/baseline/internal/integers"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/table"
	"github.com/hushgrad/hushgrad/privacy"
)

// Laplace is the dense Laplace mechanism in the local model: the textbook way to ε-LDP gradients.
//
// # Mechanism
//
// A client clips its gradient to the L1 norm Scale, rounds it to a grid and adds
// two-sided geometric noise, the Laplace law on a grid, to every coordinate: Dwork,
// McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis,
// TCC 2006; Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy
// Mechanisms, STOC 2009. Any two clipped gradients are at most 2·Scale apart. The
// report is ε-differentially private against everybody, replace-one. ε is at least
// [LaplaceMinEpsilon], Round.Delta is 0, and the round has no other parameters.
//
// # Exactness
//
// The grid has B = ⌈128ε⌉ steps to Scale. A coordinate becomes an integer k_j, which is
// x_j·B/Scale on average, by dithering that keeps Σ|k_j| ≤ B. The noise is m or −m−1, and a fair
// coin decides which. m is drawn from a table of integers. Its neighbours differ by a factor
// of at most e^(ε/(2B)), certified by rational arithmetic. Two gradients give any
// report with probabilities within e^(ε·Σ|k_j−k'_j|/(2B)) ≤ e^ε of one another, to the last
// bit. Only the client's gradient itself depends on floating-point numbers. The sums are clamped to
// 16 bits, after the noise, with probability below 10^-35.
//
// # Accuracy and cost
//
// The mean of n reports is unbiased for the mean of the clipped gradients, with the standard
// error (2√2·Scale/ε)/√n in every coordinate, and at most 10^−5 of itself more.
// Encode and Add take O(dim) time, about 8 ns for a coordinate. A report has 2·dim bytes and a
// snapshot about 4·dim. Shuffled is the bound of privacy.Clone.
const Laplace = "laplace"

func init() { fl.Register(Laplace, laplaceFactory{}) }

const (
	// LaplaceMinEpsilon is the least ε: below it the noise would not fit reports of 16 bits.
	LaplaceMinEpsilon = 0.005

	// resolution is how many steps of the grid the noise is wide, or more.
	resolution = 256
	// fractionBits is the precision with which coordinates are dithered, in steps.
	fractionBits = 40
)

type laplaceFactory struct{}

// Open implements fl.Factory.
func (laplaceFactory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := cmp.Or(r.CheckLocal(), r.Params.Only()); err != nil {
		return nil, err
	}
	if r.Epsilon < LaplaceMinEpsilon {
		return nil, fl.Invalid("epsilon", r.Epsilon, "must be at least %g", LaplaceMinEpsilon)
	}
	clone, err := privacy.NewClone(r.Epsilon)
	if err != nil {
		return nil, err
	}
	norm := math.Ceil(resolution / 2 * r.Epsilon)
	if r.Scale < 0x1p-900 || r.Scale > 0x1p+900 {
		return nil, fl.Invalid("scale", r.Scale, "must be in [2^-900, 2^900]")
	}
	eta := r.Epsilon / (2 * norm)
	if math.FMA(eta, 2*norm, -r.Epsilon) > 0 { // the quotient was rounded up
		eta = math.Nextafter(eta, 0)
	}
	noise, err := table.New(magnitudes(eta))
	if err != nil {
		return nil, err
	}
	// m + ½ of a geometric m, and a dithered coordinate that is at most ½ off.
	sinh := math.Sinh(eta / 2)
	m, err := integers.New(r, integers.Law{
		Perturber: laplacePerturber{noise: noise, norm: uint64(norm), perStep: norm / r.Scale},
		Norm:      1,
		Step:      r.Scale / norm,
		Variance:  (2/(sinh*sinh)+1)/4 + 0.25,
	})
	if err != nil {
		return nil, err
	}
	return &laplaceMechanism{Mechanism: m, clone: clone}, nil
}

type laplaceMechanism struct {
	*integers.Mechanism
	clone *privacy.Clone
}

var _ fl.Amplifier = (*laplaceMechanism)(nil)

// Shuffled implements fl.Amplifier by the bound for any ε-LDP randomizer.
func (m *laplaceMechanism) Shuffled() fl.Amplification { return m.clone }
