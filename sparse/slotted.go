package sparse

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/privacy"
)

// Calibrate returns a mechanism's hit probabilities for s entries and slots of
// weight high and low, Ω = total in all.
type Calibrate func(c slothash.Chances, sparsity int, high, low, total float64) Calibration

// Slotted is a mechanism whose number of slots and hash family are parameters of
// the round: Collision and CoCo. It implements fl.Factory and fl.Completer.
type Slotted struct {
	Layout slothash.Layout
	// MinSlots is the smallest number of slots for s entries.
	MinSlots  func(s int) int
	Calibrate Calibrate
	// NewSampler returns the randomizer.
	NewSampler func(w exact.Weights, sparsity, slots int) Sampler
	// MSE is the error to minimise and BestSlots where it is least.
	MSE       func(Point) (float64, error)
	BestSlots func(Point) (int, error)
}

var _ fl.Completer = Slotted{}

// Open implements fl.Factory.
func (d Slotted) Open(r fl.Round) (fl.Mechanism, error) {
	cfg, err := ReadConfig(r, d.MinSlots)
	if err != nil {
		return nil, err
	}
	key, err := r.PublicKey(r.Mechanism + "/hash")
	if err != nil {
		return nil, err
	}
	shape := slothash.Shape{Layout: d.Layout, Dim: r.Dim, Sparsity: cfg.Sparsity, Slots: cfg.Slots}
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
	return New(Scheme{
		Config:      cfg,
		Family:      family,
		Blanket:     blanket,
		Calibration: d.Calibrate(family, cfg.Sparsity, float64(w.High), float64(w.Low), float64(w.Total)),
		NewSampler:  func() Sampler { return d.NewSampler(w, cfg.Sparsity, cfg.Slots) },
		Advise:      func(p Point) []string { return Advise(p, d.BestSlots, d.MSE) },
	})
}

// Complete implements fl.Completer: the linear hash family and the best number of
// slots for the mean.
func (d Slotted) Complete(r fl.Round) (fl.Round, error) { return Complete(r, d.BestSlots) }
