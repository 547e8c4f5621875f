package laplace

import (
	"cmp"
	"math"

	"github.com/hushgrad/hushgrad/baseline/internal/integers"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/table"
	"github.com/hushgrad/hushgrad/privacy"
)

// Name is the registered name.
const Name = "laplace"

func init() { fl.Register(Name, factory{}) }

const (
	// MinEpsilon is the least ε: below it the noise would not fit reports of 16 bits.
	MinEpsilon = 0.005

	// resolution is how many steps of the grid the noise is wide, or more.
	resolution = 256
	// fractionBits is the precision with which coordinates are dithered, in steps.
	fractionBits = 40
)

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := cmp.Or(r.CheckLocal(), r.Params.Only()); err != nil {
		return nil, err
	}
	if r.Epsilon < MinEpsilon {
		return nil, fl.Invalid("epsilon", r.Epsilon, "must be at least %g", MinEpsilon)
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
		Perturber: perturber{noise: noise, norm: uint64(norm), perStep: norm / r.Scale},
		Norm:      1,
		Step:      r.Scale / norm,
		Variance:  (2/(sinh*sinh)+1)/4 + 0.25,
	})
	if err != nil {
		return nil, err
	}
	return &mechanism{Mechanism: m, clone: clone}, nil
}

type mechanism struct {
	*integers.Mechanism
	clone *privacy.Clone
}

var _ fl.Amplifier = (*mechanism)(nil)

// Shuffled implements fl.Amplifier by the bound for any ε-LDP randomizer.
func (m *mechanism) Shuffled() fl.Amplification { return m.clone }
