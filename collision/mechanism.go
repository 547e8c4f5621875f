package collision

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/internal/sparse"
)

// Name is the registered name.
const Name = "collision"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

var _ fl.Completer = factory{}

// Open implements fl.Factory. The mechanism is an fl.SparseMechanism and its
// aggregators are fl.SparseAggregators.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	cfg, err := sparse.ReadConfig(r, minSlots)
	if err != nil {
		return nil, err
	}
	key, err := r.PublicKey("collision/hash")
	if err != nil {
		return nil, err
	}
	family, err := slothash.NewFamily(cfg.Hash, slothash.Separate, cfg.Slots, key)
	if err != nil {
		return nil, err
	}
	w, err := exact.NewWeights(r.Epsilon, cfg.Sparsity, cfg.Slots)
	if err != nil {
		return nil, err
	}
	return sparse.New(sparse.Scheme{
		Config:      cfg,
		Layout:      slothash.Separate,
		Family:      family,
		Calibration: calibrate(family, cfg.Sparsity, float64(w.High), float64(w.Total)),
		NewSampler:  func() sparse.Sampler { return newSampler(w, cfg.Sparsity, cfg.Slots) },
	})
}

// Complete implements fl.Completer: the ideal hash family and the best number
// of slots for the mean.
func (factory) Complete(r fl.Round) (fl.Round, error) { return sparse.Complete(r, BestSlots) }
