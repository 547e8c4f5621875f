package hdsum

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/gkmps"
)

// coordinates is a SumDP for each sign of each coordinate of a signed integer
// vector: instance (j, sign, i) has the number first_j + sign·dim + i.
type coordinates struct {
	*layout
	domains domains
	dim     int
}

// vectorBudget is what HighDimSum and Gradients have in common.
type vectorBudget struct {
	clients, capacity int
	bound             int64 // of the absolute value of a coordinate
	epsilon, delta    float64
	relation          fl.Relation
	composition       Composition
	base              Base
	calibration       gkmps.Calibration
	beta              float64 // probability that noise alone keeps a sub-domain, anywhere
}

// newCoordinates returns the instances for vectors of dim coordinates.
//
// A non-zero coordinate has an input in one instance. Neighbours therefore touch
// at most touched(dim, relation) instances: those of the coordinates of the one
// vector and, under replace-one, of the other. An instance that both share changes
// from one input to another, which its own budget under the same relation covers,
// so it counts once. No halving of budgets is needed on top, because the
// composition counts the instances.
func newCoordinates(b vectorBudget, dim int) (*coordinates, error) {
	sum := Config{
		Clients: b.clients, Capacity: b.capacity, Bound: b.bound, Epsilon: b.epsilon, Delta: b.delta,
		Relation: b.relation, Base: b.base, Calibration: b.calibration,
	}
	if err := checkSum(sum, b.beta); err != nil {
		return nil, err
	}
	each, err := b.composition.perCoordinate(budget{b.epsilon, b.delta}, dim, b.relation)
	if err != nil {
		return nil, err
	}
	sum.Epsilon, sum.Delta = each.epsilon, each.delta
	c := &coordinates{dim: dim, domains: newDomains(b.bound, sum.Epsilon, b.beta/float64(2*dim))}
	if c.layout, err = c.domains.layout(sum, 2*dim); err != nil {
		return nil, err
	}
	return c, nil
}

// place returns the sub-domain of coordinate i with value v ≠ 0, the number of its
// instance within that group and its absolute value.
func (c *coordinates) place(i int, v int64) (j, instance int, value int64) {
	if v < 0 {
		return domainOf(-v), c.dim + i, -v
	}
	return domainOf(v), i, v
}

// encodeVector returns the messages of a vector whose coordinates are within the
// bound.
func (c *coordinates) encodeVector(v []int64, rng *rand.Rand) (Multiset, error) {
	var inputs []input
	for i, x := range v {
		if x == 0 {
			continue
		}
		j, instance, value := c.place(i, x)
		inputs = append(inputs, input{instance: c.groups[j].first + instance, value: value})
	}
	slices.SortFunc(inputs, func(a, b input) int { return a.instance - b.instance })
	return c.encode(nil, inputs, rng)
}

// vectorSum is the estimated sum of the vectors, with the variance of its noise.
type vectorSum struct {
	values, variances []float64
	kept              int // one-sided sums in which anything counts
}

// combine subtracts the sums of the negative parts from those of the positive
// ones. With every, all sub-domains count: unbiased, at the noise of the largest.
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
				out.variances[i] += c.groups[j].protocol.variance()
			}
		}
	}
	return out
}

// simulate adds one client's vector to a population.
func (c *coordinates) simulate(p *population, v []int64, rng *rand.Rand) error {
	for i, x := range v {
		if x == 0 {
			continue
		}
		j, instance, value := c.place(i, x)
		if err := p.addTo(j, instance, value, rng); err != nil {
			return fmt.Errorf("coordinate %d: %w", i, err)
		}
	}
	return nil
}
