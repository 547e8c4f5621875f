package signsketch

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/sparse"
)

// Name is the registered name.
const Name = "signsketch"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory. The round's only parameter is sparsity. The
// mechanism is an fl.SparseMechanism; its aggregators tell the mean only.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	sparsity, err := sparse.ReadSparsity(r, sparse.ParamSparsity)
	if err != nil {
		return nil, err
	}
	if err := check(r.Dim, sparsity, r.Epsilon); err != nil {
		return nil, err
	}
	key, err := r.PublicKey("signsketch/hash")
	if err != nil {
		return nil, err
	}
	shape := slothash.Shape{Layout: slothash.Paired, Dim: r.Dim, Sparsity: sparsity, Slots: slots, MinKeys: minKeys(sparsity)}
	family, err := slothash.NewFamily(slothash.GF2, shape, key)
	if err != nil {
		return nil, err
	}
	// Randomized response is a choice of one of two slots, one of them likely.
	w, err := exact.NewWeights(r.Epsilon, 1, slots)
	if err != nil {
		return nil, err
	}
	blanket, err := privacy.NewBlanket(r.Epsilon, 1, slots)
	if err != nil {
		return nil, err
	}
	return sparse.New(sparse.Scheme{
		Config:      sparse.Config{Round: r, Sparsity: sparsity, Slots: slots, Hash: slothash.GF2},
		Family:      family,
		Blanket:     blanket,
		Calibration: calibrate(r.Dim, sparsity, float64(w.High), float64(w.Total)),
		NewSampler:  func() sparse.Sampler { return newSampler(w) },
	})
}
