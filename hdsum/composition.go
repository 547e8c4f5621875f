package hdsum

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// Composition is how the budget of a vector is split over its coordinates.
type Composition uint8

const (
	// Tight gives every instance the largest ε for which the optimal homogeneous
	// composition (Kairouz, Oh, Viswanath 2015) stays within the budget.
	Tight Composition = iota
	// Paper is the closed form of the paper, from advanced composition.
	Paper
)

func (c Composition) String() string {
	switch c {
	case Tight:
		return "tight"
	case Paper:
		return "paper"
	}
	return fmt.Sprintf("Composition(%d)", uint8(c))
}

// ParseComposition returns the Composition with a name.
func ParseComposition(name string) (Composition, error) {
	for _, c := range []Composition{Tight, Paper} {
		if c.String() == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("hdsum: %w", fl.Invalid("composition", name, "must be tight or paper"))
}

// touched is the number of instances in which neighbouring vectors of dim
// coordinates may differ, when every non-zero coordinate has an input in one
// instance: one per coordinate under zero-out, and under replace-one the old
// one's and the new one's.
func touched(dim int, relation fl.Relation) int {
	if relation == fl.ReplaceOne {
		return 2 * dim
	}
	return dim
}

// deltaShare is the part of δ that Tight gives to the instances together. Their δ
// buys messages, the rest buys error: δ enters the flooding by its logarithm.
const deltaShare = 0.1

// budget is an ε and a δ.
type budget struct{ epsilon, delta float64 }

func (b budget) half() budget { return budget{b.epsilon / 2, b.delta / 2} }

// split returns the budget of each of count instances that together get total.
// paper is the closed form for them. Whatever is returned is certified by the
// optimal composition: Paper is refused where its closed form does not hold.
func (c Composition) split(total, paper budget, count int) (budget, error) {
	composed, err := privacy.Homogeneous{Epsilon: paper.epsilon, Delta: paper.delta, Count: count}.DeltaAt(total.epsilon)
	if err != nil {
		return budget{}, err
	}
	holds := composed <= total.delta
	switch {
	case c == Paper && holds:
		return paper, nil
	case c == Paper:
		return budget{}, fl.Invalid("composition", c, "must be %s: the closed form exceeds epsilon = %g, delta = %g", Tight, total.epsilon, total.delta)
	case c != Tight:
		return budget{}, fl.Invalid("composition", c, "must be %s or %s", Tight, Paper)
	}
	tight := budget{delta: deltaShare * total.delta / float64(count)}
	if tight.epsilon, err = privacy.PerMechanism(total.epsilon, total.delta, tight.delta, count); err != nil {
		return budget{}, err
	}
	if holds && paper.epsilon > tight.epsilon {
		return paper, nil
	}
	return tight, nil
}

// perCoordinate returns the budget of each instance when all of dim coordinates
// may be non-zero (the paper, Algorithm 5, with the padded dimension).
func (c Composition) perCoordinate(total budget, dim int, relation fl.Relation) (budget, error) {
	paper := budget{
		epsilon: total.epsilon / (4 * math.Sqrt(float64(dim)*math.Log(2/total.delta))),
		delta:   total.delta / (4 * float64(dim)),
	}
	return c.split(total, paper, touched(dim, relation))
}

// perItem returns the budget of each of the coordinates of a class with up to
// items of them. The closed form is Algorithm 7's with half of its δ': all of δ' would
// leave no δ for the composition itself.
func (c Composition) perItem(half, total budget, items int) (budget, error) {
	k := float64(items)
	paper := budget{
		epsilon: total.epsilon / (2 * math.Sqrt(2*k*math.Log(2/total.delta))),
		delta:   total.delta / (4 * k),
	}
	return c.split(half, paper, items)
}
