package shufflesum

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

// summer estimates a sum of integers.
type summer interface {
	// simulate returns an estimate and the number of messages of all clients together.
	simulate(p population, rng *rand.Rand) (sum float64, messages int64, err error)
	// bitsPerMessage is 0 where there are no messages.
	bitsPerMessage() float64
}

// sumNames are the contenders in the order of the paper's tables, and two references.
var sumNames = []string{sumDPName, "GKMPS", "BBGN", centralName, lowerName, "two rounds", "straw man"}

const (
	sumDPName   = "SumDP"
	centralName = "central DP"
	lowerName   = "central DP, lower τ"
)

// references says how sumNames that are no protocols of this module are meant.
const references = "Central DP is a trusted server with the clipping bound τ = min(2·Max(D), U), the largest that the paper's gold standard may find; with the lower τ it is the k-th largest input, k = ⌈log₂ log₂ U/ε⌉. Two rounds is the second round of that protocol alone: BBGN or GKMPS with half of the budget, for inputs up to τ = 2^⌈log₂ Max(D)⌉. Straw man is the same for each of the log₂ U + 2 values of τ, with a budget of ε/(2(log₂ U + 2)) each. All four are given the right τ by the simulation: they are references, and no private mechanisms."

// newSummer returns a contender by name for data with n clients.
func newSummer(name string, p population, bound int64, epsilon float64, relation fl.Relation) (summer, error) {
	c := hdsum.Config{Clients: p.clients(), Epsilon: epsilon, Delta: paperDelta, Relation: relation}
	switch name {
	case sumDPName:
		s, err := hdsum.NewSumDP(c, bound, paperBeta)
		return sumDP{s}, err
	case "GKMPS":
		c.Base = hdsum.GKMPS
	case "BBGN":
		c.Base = hdsum.BBGN
	case centralName:
		return central{tau: min(2*p.largest(1), bound), epsilon: epsilon}, nil
	case lowerName:
		k := min(math.Ceil(math.Log2(math.Log2(float64(bound)))/epsilon), float64(c.Clients))
		return central{tau: p.largest(int64(max(k, 1))), epsilon: epsilon}, nil
	case "two rounds":
		c.Epsilon, c.Delta = c.Epsilon/2, c.Delta/2
		s, err := hdsum.NewBaseSum(c, powerAbove(p.largest(1), bound))
		return baseSum{BaseSum: s}, err
	case "straw man":
		return newStrawMan(c, p.largest(1), bound)
	}
	s, err := hdsum.NewBaseSum(c, bound)
	return baseSum{BaseSum: s}, err
}

// powerAbove returns the least power of two that is not below x, at most bound.
func powerAbove(x, bound int64) int64 { return min(int64(1)<<bits.Len64(uint64(max(x, 1)-1)), bound) }

// baseSum is a BaseSum whose bound is not below the inputs, and what a client sends besides.
type baseSum struct {
	*hdsum.BaseSum
	others float64 // expected messages of a client in other instances
}

func (s baseSum) simulate(p population, rng *rand.Rand) (float64, int64, error) {
	sum, messages, err := s.SimulateCounts(p, rng)
	return sum, messages + int64(s.others*float64(p.clients())), err
}

func (s baseSum) bitsPerMessage() float64 { return s.Cost().Bits / s.Cost().Messages }

// newStrawMan returns the instance of the straw man's that answers. The others are for τ = 1, 2, 4,
// …, U, and one for 0, which sends nothing. Each has ε/(2(log₂ U + 2)).
func newStrawMan(c hdsum.Config, largest, bound int64) (summer, error) {
	top := bits.Len64(uint64(bound - 1)) // ⌈log₂ U⌉
	parts := 2 * float64(top+2)
	c.Epsilon, c.Delta = c.Epsilon/parts, c.Delta/parts
	var s baseSum
	for j := range top + 1 {
		tau := min(int64(1)<<j, bound)
		one, err := hdsum.NewBaseSum(c, tau)
		if err != nil {
			return nil, err
		}
		if tau == powerAbove(largest, bound) {
			s.BaseSum = one
			continue
		}
		s.others += one.Cost().Messages
	}
	return s, nil
}

type sumDP struct{ *hdsum.SumDP }

func (s sumDP) simulate(p population, rng *rand.Rand) (float64, int64, error) {
	e, messages, err := s.SimulateCounts(p, rng)
	if err != nil {
		return 0, 0, err
	}
	return e.Value, messages, nil
}

func (s sumDP) bitsPerMessage() float64 { return s.Cost().Bits / s.Cost().Messages }

// central is the Laplace mechanism of a trusted server on inputs clipped at τ.
type central struct {
	tau     int64
	epsilon float64
}

func (c central) simulate(p population, rng *rand.Rand) (float64, int64, error) {
	noise := distuv.Laplace{Scale: float64(c.tau) / c.epsilon, Src: rng}
	return p.clipped(c.tau).total() + noise.Rand(), 0, nil
}

func (central) bitsPerMessage() float64 { return 0 }
