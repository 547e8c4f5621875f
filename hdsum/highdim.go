package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/gkmps"
	"github.com/hushgrad/hushgrad/rotation"
)

// HighDimConfig describes a HighDimSum.
type HighDimConfig struct {
	// Clients and Capacity are as in Config.
	Clients, Capacity int
	// Dim is the number of coordinates, in [1, fl.MaxDim].
	Dim int
	// Norm is U₂ ≥ 1: the vectors' L2 norm should be at most that. Longer ones
	// lose accuracy, not privacy: their rotated coordinates are clipped.
	Norm int64
	// Epsilon and Delta are the budget of the whole vector under Relation.
	Epsilon, Delta float64
	Relation       fl.Relation
	// Composition, Base and Calibration are as in Config; the zero values are the
	// tight composition, the cheapest protocol and certified constants.
	Composition Composition
	Base        Base
	Calibration gkmps.Calibration
	// Beta in (0, 1) is the probability that rotated coordinates are clipped or
	// noise alone makes a sub-domain count, anywhere.
	Beta float64
	// Key is the public randomness of the rotation.
	Key [32]byte
}

// HighDimSum sums integer vectors of bounded L2 norm (the paper, Algorithm 5): a
// randomized Hadamard rotation spreads every vector evenly over d' = 2^⌈log2 d⌉
// coordinates, and a SumDP sums each sign of each of them. It is immutable and
// safe for concurrent use.
type HighDimSum struct {
	*coordinates
	rotation *rotation.Rotation
}

// NewHighDimSum returns the protocol that c describes.
func NewHighDimSum(c HighDimConfig) (*HighDimSum, error) {
	h, err := newHighDimSum(c)
	if err != nil {
		return nil, fmt.Errorf("hdsum: HighDimSum: %w", err)
	}
	return h, nil
}

func newHighDimSum(c HighDimConfig) (*HighDimSum, error) {
	switch {
	case c.Norm < 1 || c.Norm > 1<<30:
		return nil, fl.Invalid("norm", c.Norm, "must be in [1, 2^30]")
	case c.Clients < 1 || c.Clients > fl.MaxReports:
		return nil, fl.Invalid("clients", c.Clients, "must be in [1, %d]", fl.MaxReports)
	case !(c.Beta > 0 && c.Beta < 1):
		return nil, fl.Invalid("beta", c.Beta, "must be in (0, 1)")
	}
	r, err := rotation.New(c.Dim, c.Key)
	if err != nil {
		return nil, err
	}
	bound := math.Ceil(rotation.Bound(float64(c.Norm), r.PaddedDim(), c.Clients, c.Beta/2))
	parts, err := newCoordinates(vectorBudget{
		clients: c.Clients, capacity: c.Capacity, bound: int64(bound),
		epsilon: c.Epsilon, delta: c.Delta, relation: c.Relation,
		composition: c.Composition, base: c.Base, calibration: c.Calibration, beta: c.Beta / 2,
	}, r.PaddedDim())
	if err != nil {
		return nil, err
	}
	return &HighDimSum{coordinates: parts, rotation: r}, nil
}

// Bound is the largest absolute value of a rotated coordinate; beyond, it is
// clipped.
func (h *HighDimSum) Bound() int64 { return h.domains.bounds[len(h.domains.bounds)-1] }

// Encode returns the messages of a client's vector of Dim integers. Expected time
// O(d' log d' + entries · log entries).
func (h *HighDimSum) Encode(x []int64, rng *rand.Rand) (Multiset, error) {
	rotated, err := h.rotate(make([]int64, h.rotation.PaddedDim()), x)
	if err != nil {
		return nil, err
	}
	return h.encodeVector(rotated, rng)
}

// rotate writes the clipped rotation of x to dst.
func (h *HighDimSum) rotate(dst, x []int64) ([]int64, error) {
	if err := h.rotation.ForwardInt(dst, x); err != nil {
		return nil, fmt.Errorf("hdsum: HighDimSum: %w", err)
	}
	bound := h.Bound()
	for i, v := range dst {
		dst[i] = min(max(v, -bound), bound)
	}
	return dst, nil
}

// VectorEstimate is the estimated sum of vectors.
type VectorEstimate struct {
	Value []float64 // length Dim
	// StdErr is the standard error of every coordinate: the rotation spreads the
	// noise evenly. Clipped and dropped inputs are not in it.
	StdErr float64
	// Kept is the share of the 2d' one-sided sums that stand out of the noise.
	Kept float64
}

// Analyze returns the estimate of the sum of all vectors.
func (h *HighDimSum) Analyze(sums *Sums) (*VectorEstimate, error) {
	if err := h.own(sums); err != nil {
		return nil, err
	}
	return h.estimate(sums.decode())
}

func (h *HighDimSum) estimate(instances []float64) (*VectorEstimate, error) {
	return unrotate(h.rotation, h.combine(instances, false), 1)
}

// unrotate turns the sums of rotated coordinates into those of the vectors, times
// scale.
func unrotate(r *rotation.Rotation, sum *vectorSum, scale float64) (*VectorEstimate, error) {
	e := &VectorEstimate{Value: make([]float64, r.Dim()), Kept: float64(sum.kept) / float64(2*len(sum.values))}
	var variance float64
	for _, v := range sum.variances {
		variance += v
	}
	padded := float64(r.PaddedDim())
	e.StdErr = scale * math.Sqrt(variance) / padded
	if err := r.Inverse(e.Value, sum.values); err != nil {
		return nil, fmt.Errorf("hdsum: %w", err)
	}
	for i := range e.Value {
		e.Value[i] *= scale
	}
	return e, nil
}

// VectorPopulation simulates all clients of a HighDimSum at once, for research: it
// sees all vectors. It is not safe for concurrent use.
type VectorPopulation struct {
	sum *HighDimSum
	all *population
	buf []int64
}

// NewPopulation returns a population without clients.
func (h *HighDimSum) NewPopulation() *VectorPopulation {
	return &VectorPopulation{sum: h, all: h.newPopulation(0), buf: make([]int64, h.rotation.PaddedDim())}
}

// Add adds one client's vector. O(d' log d').
func (p *VectorPopulation) Add(x []int64, rng *rand.Rand) error {
	rotated, err := p.sum.rotate(p.buf, x)
	if err != nil {
		return err
	}
	p.all.clients++
	return p.sum.simulate(p.all, rotated, rng)
}

// Estimate draws what Analyze would return after exactly Clients clients, and the
// number of messages they would send together.
func (p *VectorPopulation) Estimate(rng *rand.Rand) (e *VectorEstimate, messages int64, err error) {
	instances, messages, err := p.all.finish(rng)
	if err != nil {
		return nil, 0, err
	}
	e, err = p.sum.estimate(instances)
	return e, messages, err
}
