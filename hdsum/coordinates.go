package hdsum

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/rotation"
)

// coordinates is a SumDP for each sign of each coordinate of a signed integer
// vector: instance (j, sign, i) has the number sign·dim + i in the group of sub-domain j.
type coordinates struct {
	*layout
	domains domains
	dim     int
}

// newCoordinates returns the instances for vectors of dim coordinates of at most bound
// in absolute value. c has the budget of the vector, and beta is the probability that
// noise alone keeps a sub-domain, anywhere.
//
// A non-zero coordinate has an input in one instance. Neighbours therefore touch
// at most touched(dim, relation) instances: the instances of the one vector's
// coordinates and, under replace-one, of the other's. An instance that both share
// changes from one input to another. Its own budget under the same relation covers
// the change, so it counts once. No halving of budgets is needed on top, because the
// composition counts the instances.
func newCoordinates(c Config, split Composition, dim int, bound int64, beta float64) (*coordinates, error) {
	if err := c.check(bound, beta); err != nil {
		return nil, err
	}
	each, err := split.perCoordinate(c.budget(), dim, c.Relation)
	if err != nil {
		return nil, err
	}
	v := &coordinates{dim: dim, domains: newDomains(bound, each.epsilon, beta/float64(2*dim))}
	v.layout, err = v.domains.layout(c.with(each), 2*dim)
	return v, err
}

// inputs appends the inputs of a vector whose coordinates are within the bound, in
// the order of its coordinates.
func (c *coordinates) inputs(dst []input, v []int64) []input {
	for i, x := range v {
		switch {
		case x > 0:
			dst = append(dst, input{group: domainOf(x), instance: i, value: x})
		case x < 0:
			dst = append(dst, input{group: domainOf(-x), instance: c.dim + i, value: -x})
		}
	}
	return dst
}

// encodeVector returns the messages of a vector whose coordinates are within the
// bound.
func (c *coordinates) encodeVector(v []int64, rng *rand.Rand) (Multiset, error) {
	inputs := c.inputs(make([]input, 0, len(v)), v)
	slices.SortFunc(inputs, func(a, b input) int { return cmp.Or(a.group-b.group, a.instance-b.instance) })
	return c.encode(inputs, rng)
}

// vectorSum is the estimated sum of the vectors, with the variance of its noise.
type vectorSum struct {
	values, variances []float64
	kept              int // one-sided sums in which anything counts
}

// combine subtracts the sums of the negative parts from the sums of the positive
// parts. With every, all sub-domains count: unbiased, at the noise of the largest.
// Otherwise each one-sided sum keeps its own.
func (c *coordinates) combine(estimates []float64, every bool) *vectorSum {
	out := &vectorSum{values: make([]float64, c.dim), variances: make([]float64, c.dim)}
	for i := range c.dim {
		for sign, weight := range [2]float64{1, -1} {
			at := func(j int) float64 { return estimates[c.groups[j].first+sign*c.dim+i] }
			kept := len(c.groups)
			if !every {
				kept = c.domains.kept(at)
			}
			if kept > 0 {
				out.kept++
			}
			for j := range kept {
				out.values[i] += weight * at(j)
				out.variances[i] += c.groups[j].sum.variance()
			}
		}
	}
	return out
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

// unrotate turns the sums of rotated coordinates into the sums of the vectors, times
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
