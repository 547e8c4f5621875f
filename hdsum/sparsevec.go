package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// SparseConfig describes a SparseVecSum.
type SparseConfig struct {
	Config
	// Dim is the number of coordinates, in [1, 2^24].
	Dim int
	// Composition splits the budget over the items of a client, Tight by default.
	Composition Composition
	// Beta in (0, 1) is the probability that noise alone makes a class count.
	Beta float64
}

// SparseVecSum sums sparse 0/1 vectors whose sparsity differs between clients: how
// many clients hold each item when a client holds as many as it likes (the paper,
// Algorithms 7 and 8). It is immutable and safe for concurrent use.
//
// Clients with 1, 2, 3–4, 5–8, … items form classes. Each class has a counter of
// its clients and one instance per coordinate, with the budget that its sparsity
// leaves for each. The analyzer keeps the classes up to the last one whose counter
// stands out of the noise; clients with more items are dropped.
type SparseVecSum struct {
	*layout
	dim       int
	classes   int     // groups [0, classes) are counters, the next ones coordinates
	threshold float64 // of a counter
}

// NewSparseVecSum returns the sum that c describes: ⌈log2 Dim⌉ + 1 classes of
// Dim + 1 instances.
func NewSparseVecSum(c SparseConfig) (_ *SparseVecSum, err error) {
	defer prefix.Error(&err, "hdsum: SparseVecSum")
	if err := c.check(1, c.Beta); err != nil {
		return nil, err
	}
	if c.Dim < 1 || c.Dim > 1<<24 {
		return nil, fl.Invalid("dim", c.Dim, "must be in [1, 2^24]")
	}
	// Under zero-out a client's items are in one class: half the budget goes to its counter, half to its at most
	// 2^j coordinates. Under replace-one the old and the new vector each get half of everything: in two classes they
	// touch disjoint instances, and in one class the coordinates that only the old vector has and those that only
	// the new one has are disjoint sets of at most 2^j.
	total := c.budget()
	if c.Relation == fl.ReplaceOne {
		total = total.half()
	}
	half := total.half()
	classes := domainOf(int64(c.Dim)) + 1
	counter, err := newNoisySum(c.with(half), 1)
	if err != nil {
		return nil, err
	}
	groups := slices.Repeat([]group{{sum: counter, run: run{count: 1}}}, classes)
	for j := range classes {
		each, err := c.Composition.perItem(half, total, min(1<<j, c.Dim))
		if err != nil {
			return nil, err
		}
		item, err := newNoisySum(c.with(each), 1)
		if err != nil {
			return nil, err
		}
		groups = append(groups, group{sum: item, run: run{count: c.Dim}})
	}
	s := &SparseVecSum{dim: c.Dim, classes: classes}
	s.threshold = 1.3 / half.epsilon * math.Log(2*float64(classes)/c.Beta)
	if s.layout, err = newLayout(groups...); err != nil {
		return nil, err
	}
	return s, nil
}

// Encode returns the messages of a client with the given items: coordinates in
// [0, Dim), strictly increasing. A nil rng means a fresh fl.NewRand. Expected time
// O(entries · log entries).
func (s *SparseVecSum) Encode(items []int, rng *rand.Rand) (Multiset, error) {
	inputs, err := s.inputs(nil, items)
	if err != nil {
		return nil, err
	}
	return s.encode(inputs, rng)
}

// inputs appends a 1 for the counter of a client's class and one for each of its items.
func (s *SparseVecSum) inputs(dst []input, items []int) ([]input, error) {
	for k, i := range items {
		if i < 0 || i >= s.dim || k > 0 && items[k-1] >= i {
			return nil, fmt.Errorf("hdsum: SparseVecSum: %w", fl.Invalid("items", i, "must be in [0, %d) and strictly increasing, number %d is not", s.dim, k))
		}
	}
	if len(items) == 0 {
		return dst, nil
	}
	class := domainOf(int64(len(items)))
	dst = append(dst, input{group: class, value: 1})
	for _, i := range items {
		dst = append(dst, input{group: s.classes + class, instance: i, value: 1})
	}
	return dst, nil
}

// ItemCounts is the outcome of a SparseVecSum.
type ItemCounts struct {
	Value []float64 // length Dim
	// StdErr is the standard error of every coordinate, from noise alone.
	StdErr float64
	// MaxItems is the largest number of items of the clients that count; 0 when no
	// class stands out of the noise.
	MaxItems int
}

// Analyze returns the estimate of how many clients hold each item.
func (s *SparseVecSum) Analyze(sums *Sums) (*ItemCounts, error) {
	instances, err := s.decode(sums)
	if err != nil {
		return nil, err
	}
	return s.estimate(instances), nil
}

func (s *SparseVecSum) estimate(instances []float64) *ItemCounts {
	e := &ItemCounts{Value: make([]float64, s.dim)}
	kept := s.classes
	for kept > 0 && instances[s.groups[kept-1].first] <= s.threshold {
		kept--
	}
	var variance float64
	for j := range kept {
		e.MaxItems = min(1<<j, s.dim)
		g := s.groups[s.classes+j]
		variance += g.sum.variance()
		for i := range e.Value {
			e.Value[i] += instances[g.first+i]
		}
	}
	e.StdErr = math.Sqrt(variance)
	return e
}

// Simulate draws what Analyze would return for exactly Clients clients with the
// given items, and the number of messages they would send together. It is for
// research; it sees all items.
func (s *SparseVecSum) Simulate(clients [][]int, rng *rand.Rand) (e *ItemCounts, messages int64, err error) {
	p := s.newPopulation(len(clients))
	var own []input
	for _, items := range clients {
		if own, err = s.inputs(own[:0], items); err != nil {
			return nil, 0, err
		}
		if err := p.add(own, rng); err != nil {
			return nil, 0, err
		}
	}
	instances, messages, err := p.finish(rng)
	if err != nil {
		return nil, 0, err
	}
	return s.estimate(instances), messages, nil
}
