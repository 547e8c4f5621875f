package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/gkmps"
)

// SparseConfig describes a SparseVecSum.
type SparseConfig struct {
	// Clients and Capacity are as in Config.
	Clients, Capacity int
	// Dim is the number of coordinates, in [1, 2^24].
	Dim int
	// Epsilon and Delta are the budget of the whole vector under Relation.
	Epsilon, Delta float64
	Relation       fl.Relation
	// Composition, Base and Calibration are as in HighDimConfig.
	Composition Composition
	Base        Base
	Calibration gkmps.Calibration
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

// NewSparseVecSum returns the protocol that c describes: ⌈log2 Dim⌉ + 1 classes of
// Dim + 1 instances.
func NewSparseVecSum(c SparseConfig) (*SparseVecSum, error) {
	s, err := newSparseVecSum(c)
	if err != nil {
		return nil, fmt.Errorf("hdsum: SparseVecSum: %w", err)
	}
	return s, nil
}

// newSparseVecSum splits the budget. Under zero-out a client's items are in one
// class: half the budget goes to its counter, half to its at most 2^j coordinates.
// Under replace-one the old and the new vector each get half of everything: in two
// classes they touch disjoint instances, and in one class the coordinates that
// only the old vector has and those that only the new one has are disjoint sets of
// at most 2^j.
func newSparseVecSum(c SparseConfig) (*SparseVecSum, error) {
	count := Config{
		Clients: c.Clients, Capacity: c.Capacity, Bound: 1, Epsilon: c.Epsilon, Delta: c.Delta,
		Relation: c.Relation, Base: c.Base, Calibration: c.Calibration,
	}
	if err := checkSum(count, c.Beta); err != nil {
		return nil, err
	}
	if c.Dim < 1 || c.Dim > 1<<24 {
		return nil, fl.Invalid("dim", c.Dim, "must be in [1, 2^24]")
	}
	total := budget{c.Epsilon, c.Delta}
	if c.Relation == fl.ReplaceOne {
		total = budget{c.Epsilon / 2, c.Delta / 2}
	}
	half := budget{total.epsilon / 2, total.delta / 2}
	classes := domainOf(int64(c.Dim)) + 1
	count.Epsilon, count.Delta = half.epsilon, half.delta
	counter, err := newBase(count)
	if err != nil {
		return nil, err
	}
	groups := slices.Repeat([]group{{protocol: counter, count: 1}}, classes)
	for j := range classes {
		each, err := c.Composition.perItem(half, total, min(1<<j, c.Dim))
		if err != nil {
			return nil, err
		}
		count.Epsilon, count.Delta = each.epsilon, each.delta
		item, err := newBase(count)
		if err != nil {
			return nil, err
		}
		groups = append(groups, group{protocol: item, count: c.Dim})
	}
	s := &SparseVecSum{dim: c.Dim, classes: classes}
	s.threshold = 1.3 / half.epsilon * math.Log(2*float64(classes)/c.Beta)
	s.layout, err = newLayout(groups...)
	return s, err
}

// perItem returns the budget of each of the coordinates of a class with up to
// items of them. The closed form is that of Algorithm 7 with half of its δ', which
// otherwise leaves none for the composition itself.
func (c Composition) perItem(half, total budget, items int) (budget, error) {
	k := float64(items)
	paper := budget{
		epsilon: total.epsilon / (2 * math.Sqrt(2*k*math.Log(2/total.delta))),
		delta:   total.delta / (4 * k),
	}
	return c.split(half, paper, items)
}

// Classes is the number of sparsity classes.
func (s *SparseVecSum) Classes() int { return s.classes }

// Encode returns the messages of a client with the given items: coordinates in
// [0, Dim), strictly increasing. Expected time O(entries · log entries).
func (s *SparseVecSum) Encode(items []int, rng *rand.Rand) (Multiset, error) {
	if err := s.check(items); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return s.encode(nil, nil, rng)
	}
	j := domainOf(int64(len(items)))
	inputs := []input{{instance: s.groups[j].first, value: 1}}
	for _, i := range items {
		inputs = append(inputs, input{instance: s.groups[s.classes+j].first + i, value: 1})
	}
	return s.encode(nil, inputs, rng)
}

func (s *SparseVecSum) check(items []int) error {
	for k, i := range items {
		if i < 0 || i >= s.dim || k > 0 && items[k-1] >= i {
			return fmt.Errorf("hdsum: SparseVecSum: %w", fl.Invalid("items", i, "must be in [0, %d) and strictly increasing, number %d is not", s.dim, k))
		}
	}
	return nil
}

// ItemCounts is the outcome of a SparseVecSum.
type ItemCounts struct {
	Value []float64 // length Dim
	// StdErr is that of every coordinate, from noise alone.
	StdErr float64
	// MaxItems is the largest number of items of the clients that count; 0 when no
	// class stands out of the noise.
	MaxItems int
}

// Analyze returns the estimate of how many clients hold each item.
func (s *SparseVecSum) Analyze(sums *Sums) (*ItemCounts, error) {
	if err := s.own(sums); err != nil {
		return nil, err
	}
	return s.estimate(sums.decode()), nil
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
		variance += g.protocol.variance()
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
	for _, items := range clients {
		if err := s.check(items); err != nil {
			return nil, 0, err
		}
		if len(items) == 0 {
			continue
		}
		j := domainOf(int64(len(items)))
		if err := p.add(j, 1, rng); err != nil {
			return nil, 0, err
		}
		for _, i := range items {
			if err := p.addTo(s.classes+j, i, 1, rng); err != nil {
				return nil, 0, err
			}
		}
	}
	instances, messages, err := p.finish(rng)
	if err != nil {
		return nil, 0, err
	}
	return s.estimate(instances), messages, nil
}
