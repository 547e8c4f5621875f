package coco

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/internal/sparse"
	"github.com/hushgrad/hushgrad/privacy"
)

// Name is the registered name.
const Name = "coco"

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
	key, err := r.PublicKey("coco/hash")
	if err != nil {
		return nil, err
	}
	shape := slothash.Shape{Layout: slothash.Paired, Dim: r.Dim, Sparsity: cfg.Sparsity, Slots: cfg.Slots}
	family, err := slothash.NewFamily(cfg.Hash, shape, key)
	if err != nil {
		return nil, err
	}
	w, err := exact.NewWeights(r.Epsilon, cfg.Sparsity, cfg.Slots)
	if err != nil {
		return nil, err
	}
	blanket, err := privacy.NewBlanket(r.Epsilon, cfg.Sparsity, cfg.Slots)
	if err != nil {
		return nil, err
	}
	return sparse.New(sparse.Scheme{
		Config:      cfg,
		Family:      family,
		Blanket:     blanket,
		Calibration: calibrate(family, cfg.Sparsity, float64(w.High), float64(w.Low), float64(w.Total)),
		NewSampler:  func() sparse.Sampler { return newSampler(w, cfg.Sparsity, cfg.Slots) },
		Advise:      func(p Point) []string { return sparse.Advise(p, BestSlots, MSE) },
	})
}

// Complete implements fl.Completer: the linear hash family and the best number
// of slots for the mean.
func (factory) Complete(r fl.Round) (fl.Round, error) { return sparse.Complete(r, BestSlots) }
