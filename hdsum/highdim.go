package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/rotation"
)

// HighDimConfig describes a HighDimSum.
type HighDimConfig struct {
	Config
	// Dim is the number of coordinates, in [1, fl.MaxDim].
	Dim int
	// Norm is U₂ ≥ 1: the vectors' L2 norm should be at most that. Longer ones
	// lose accuracy, not privacy: their rotated coordinates are clipped.
	Norm int64
	// Composition splits the budget over the rotated coordinates, Tight by default.
	Composition Composition
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

// NewHighDimSum returns the sum that c describes.
func NewHighDimSum(c HighDimConfig) (_ *HighDimSum, err error) {
	defer prefix.Error(&err, "hdsum: HighDimSum")
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
	parts, err := newCoordinates(c.Config, c.Composition, r.PaddedDim(), int64(bound), c.Beta/2)
	if err != nil {
		return nil, err
	}
	return &HighDimSum{coordinates: parts, rotation: r}, nil
}

// Bound is the largest absolute value of a rotated coordinate; beyond, it is
// clipped.
func (h *HighDimSum) Bound() int64 { return h.domains.top() }

// Encode returns the messages of a client's vector of Dim integers. A nil rng means a
// fresh fl.NewRand. Expected time O(d' log d' + entries · log entries).
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

// Analyze returns the estimate of the sum of all vectors.
func (h *HighDimSum) Analyze(sums *Sums) (*VectorEstimate, error) {
	instances, err := h.decode(sums)
	if err != nil {
		return nil, err
	}
	return h.estimate(instances)
}

func (h *HighDimSum) estimate(instances []float64) (*VectorEstimate, error) {
	return unrotate(h.rotation, h.combine(instances, false), 1)
}

// VectorPopulation simulates all clients of a HighDimSum at once, for research: it
// sees all vectors. It is not safe for concurrent use.
type VectorPopulation struct {
	sum     *HighDimSum
	all     *population
	rotated []int64
	inputs  []input
}

// NewPopulation returns a population without clients.
func (h *HighDimSum) NewPopulation() *VectorPopulation {
	return &VectorPopulation{sum: h, all: h.newPopulation(0), rotated: make([]int64, h.rotation.PaddedDim())}
}

// Add adds one client's vector. O(d' log d').
func (p *VectorPopulation) Add(x []int64, rng *rand.Rand) error {
	if _, err := p.sum.rotate(p.rotated, x); err != nil {
		return err
	}
	p.all.clients++
	p.inputs = p.sum.inputs(p.inputs[:0], p.rotated)
	return p.all.add(p.inputs, rng)
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
