package sparse

import (
	"cmp"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/privacy"
)

// Sampler draws the slot of one client under one hash function. It is reused
// without allocating and is not safe for concurrent use.
type Sampler interface {
	Slot(x fl.Ternary, f HashFunc, choose exact.Chooser) uint32
}

// Definition is what a mechanism supplies to its Scheme, in this module or in another.
type Definition struct {
	Name   string // registered name
	Layout Layout
	// Slots is the number of slots where it is fixed; 0 makes it, and the hash family, a
	// parameter of the round.
	Slots int
	// MinSlots is the smallest number of slots for s entries, where it is not fixed.
	MinSlots func(s int) int
	// Likely is the number of slots that have the weight e^ε for s entries.
	Likely func(s int) int
	// MinKeys is the smallest number of labels of the hash family for s entries; nil: none.
	MinKeys func(s int) int
	// Calibrate returns the hit probabilities for slots of weight high and low, Ω = total
	// in all. chances are the hash family's chances.
	Calibrate func(chances Chances, p Point, high, low, total float64) Calibration
	// Aliasing is the squared error that the fixed labels of a round add to a coordinate,
	// divided by the squared norm of the mean ternary vector; nil: none. It does not fall
	// with the number of reports.
	Aliasing func(p Point) float64
	// NewSampler returns the randomizer.
	NewSampler func(w exact.Weights, sparsity, slots int) Sampler
}

// Scheme is one mechanism at all its parameters: the factory of its rounds, and their
// exact errors. It is immutable and safe for concurrent use.
type Scheme struct{ definition Definition }

var (
	_ fl.Completer    = (*Scheme)(nil)
	_ fl.ColumnLister = (*Scheme)(nil)
)

// NewScheme returns the scheme of a definition.
func NewScheme(d Definition) *Scheme { return &Scheme{d} }

// Name is the registered name.
func (s *Scheme) Name() string { return s.definition.Name }

// Likely is the number of slots that have the weight e^ε for s entries. With it, the number
// of slots and ε, mechanisms have the same amplification.
func (s *Scheme) Likely(sparsity int) int { return s.definition.Likely(sparsity) }

// at fills in what the scheme fixes and checks the point.
func (s *Scheme) at(p Point) (Point, error) {
	if err := p.check(); err != nil {
		return p, err
	}
	d := s.definition
	if d.Slots > 0 {
		p.Slots, p.Hash = d.Slots, HashGF2
	}
	p.Hash = cmp.Or(p.Hash, HashGF2)
	if d.MinKeys != nil {
		if keys := max(d.Layout.Keys(p.Dim, p.Sparsity), d.MinKeys(p.Sparsity)); gf2.BitsFor(keys) > gf2.MaxBits {
			return p, fl.Invalid(ParamSparsity, p.Sparsity, "must leave at most 2^%d labels, %d are needed", gf2.MaxBits, keys)
		}
	}
	return p, nil
}

// Calibration returns the exact hit probabilities at a point. O(Sparsity) at most.
func (s *Scheme) Calibration(p Point) (Calibration, error) {
	p, err := s.at(p)
	if err != nil {
		return Calibration{}, err
	}
	d := s.definition
	var chances Chances
	if d.Slots == 0 {
		if low := d.MinSlots(p.Sparsity); p.Slots < low {
			return Calibration{}, fl.Invalid(ParamSlots, p.Slots, "must be at least %d for sparsity %d", low, p.Sparsity)
		}
		if chances, err = NewChances(p.Hash, d.Layout, d.Layout.Keys(p.Dim, p.Sparsity), p.Slots); err != nil {
			return Calibration{}, err
		}
	}
	high, total := p.weights(d.Likely(p.Sparsity))
	return d.Calibrate(chances, p, high, 1, total), nil
}

// error returns a sum of squared errors at a point.
func (s *Scheme) error(p Point, of func(c Calibration, dim, sparsity int) float64) (float64, error) {
	c, err := s.Calibration(p)
	if err != nil {
		return 0, err
	}
	return of(c, p.Dim, p.Sparsity), nil
}

// MSE is the exact squared error of the mean estimated from one report, summed over the
// coordinates, in squared ternary units. Divide by the number of reports and multiply by
// τ² for the error of a round. O(Sparsity) at most.
func (s *Scheme) MSE(p Point) (float64, error) { return s.error(p, Calibration.MeanMSE) }

// FrequencyMSE is MSE for the column fl.ColumnFrequency.
func (s *Scheme) FrequencyMSE(p Point) (float64, error) { return s.error(p, Calibration.FrequencyMSE) }

// ItemMSE is MSE for the columns fl.ColumnPlus and fl.ColumnMinus together, summed over
// their 2·dim numbers.
func (s *Scheme) ItemMSE(p Point) (float64, error) { return s.error(p, Calibration.ItemMSE) }

// Blanket returns the bound on what shuffled reports of the mechanism reveal.
func (s *Scheme) Blanket(p Point) (*privacy.Blanket, error) {
	p, err := s.at(p)
	if err != nil {
		return nil, err
	}
	return privacy.NewBlanket(p.Epsilon, s.definition.Likely(p.Sparsity), p.Slots)
}

// Params returns the parameters of a round at a point: all that the mechanism has.
func (s *Scheme) Params(p Point) fl.Params {
	out := fl.Params{ParamSparsity: fl.Int(p.Sparsity)}
	if s.definition.Slots == 0 {
		out[ParamSlots], out[ParamHash] = fl.Int(p.Slots), fl.Text(cmp.Or(p.Hash, HashGF2))
	}
	return out
}

// Columns implements fl.ColumnLister.
func (s *Scheme) Columns() []string {
	if s.definition.Slots > 0 {
		return nil
	}
	return []string{fl.ColumnFrequency, fl.ColumnConditional, fl.ColumnPlus, fl.ColumnMinus}
}

// params are the names of the round's parameters.
func (s *Scheme) params() []string {
	if s.definition.Slots > 0 {
		return []string{ParamSparsity}
	}
	return []string{ParamSparsity, ParamSlots, ParamHash}
}

// Complete implements fl.Completer: the linear hash family, and the best number of slots
// for what the round asks for. That is the mean unless it names columns.
func (s *Scheme) Complete(r fl.Round) (fl.Round, error) {
	sparsity, err := ReadSparsity(r, s.params()...)
	if err != nil || s.definition.Slots > 0 {
		return r, err
	}
	if !r.Params.Has(ParamHash) {
		r.Params = r.Params.With(ParamHash, fl.Text(HashGF2))
	}
	if r.Params.Has(ParamSlots) {
		return r, nil
	}
	hash, err := r.Params.Text(ParamHash)
	if err != nil {
		return fl.Round{}, err
	}
	best := s.BestSlots
	switch {
	case slices.Contains(r.Columns, fl.ColumnPlus) || slices.Contains(r.Columns, fl.ColumnMinus):
		best = s.BestSlotsForItems
	case len(r.Columns) > 0:
		best = s.BestSlotsForFrequency
	}
	slots, err := best(Point{Dim: r.Dim, Sparsity: sparsity, Epsilon: r.Epsilon, Hash: hash})
	if err != nil {
		return fl.Round{}, err
	}
	r.Params = r.Params.With(ParamSlots, fl.Int(slots))
	return r, nil
}

// read returns the point that a complete round describes. Whether the hash family allows
// its number of slots is for the family to say.
func (s *Scheme) read(r fl.Round) (Point, error) {
	sparsity, err := ReadSparsity(r, s.params()...)
	if err != nil {
		return Point{}, err
	}
	p := Point{Dim: r.Dim, Sparsity: sparsity, Epsilon: r.Epsilon}
	if s.definition.Slots > 0 {
		return s.at(p)
	}
	if p.Slots, err = r.Params.Int(ParamSlots); err != nil {
		return Point{}, err
	}
	if low := s.definition.MinSlots(sparsity); p.Slots < low || int64(p.Slots) > MaxSlots {
		return Point{}, fl.Invalid(ParamSlots, p.Slots, "must be in [%d, %d] for sparsity %d", low, int64(MaxSlots), sparsity)
	}
	if p.Hash, err = r.Params.Text(ParamHash); err != nil {
		return Point{}, err
	}
	return s.at(p)
}

// Open implements fl.Factory. The mechanism is an fl.SparseMechanism.
func (s *Scheme) Open(r fl.Round) (fl.Mechanism, error) {
	p, err := s.read(r)
	if err != nil {
		return nil, err
	}
	d := s.definition
	key, err := r.PublicKey(d.Name + "/hash")
	if err != nil {
		return nil, err
	}
	shape := HashShape{Layout: d.Layout, Dim: r.Dim, Sparsity: p.Sparsity, Slots: p.Slots}
	if d.MinKeys != nil {
		shape.MinKeys = d.MinKeys(p.Sparsity)
	}
	family, err := NewHashFamily(p.Hash, shape, key)
	if err != nil {
		return nil, err
	}
	w, err := exact.NewWeights(r.Epsilon, d.Likely(p.Sparsity), p.Slots)
	if err != nil {
		return nil, err
	}
	blanket, err := s.Blanket(p)
	if err != nil {
		return nil, err
	}
	c := d.Calibrate(family, p, float64(w.High), float64(w.Low), float64(w.Total))
	if err := c.validate(); err != nil {
		return nil, err
	}
	if len(r.Columns) > 0 && !c.estimatesFrequency() {
		return nil, fl.Invalid(ParamSlots, p.Slots, "must be above 2·sparsity = %d for anything but the mean", 2*p.Sparsity)
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	m := &mechanism{scheme: s, round: round, point: p, family: family, blanket: blanket, calibration: c, weights: w}
	if d.Aliasing != nil {
		m.aliasing = d.Aliasing(p)
	}
	return m.complete()
}
