package hdsum

import (
	"math"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
)

// domains cuts {1, …, U} into [1,1], [2,2], [3,4], [5,8], …, the last one ending
// at U, and rules which of them count (the paper, Algorithm 3).
type domains struct {
	bounds     []int64   // largest value of each
	thresholds []float64 // what its estimate has to exceed
}

// domainOf returns the sub-domain of x ≥ 1.
func domainOf(x int64) int { return bits.Len64(uint64(x - 1)) }

// newDomains returns ⌈log2 U⌉ + 1 sub-domains. A sub-domain whose instance has
// budget epsilon counts as occupied when its estimate exceeds
// 1.3·2^j·ln(2(L+1)/β)/ε, which noise alone does with probability at most β in any
// of them.
func newDomains(bound int64, epsilon, beta float64) domains {
	var d domains
	last := domainOf(bound)
	for j := range last + 1 {
		top := min(int64(1)<<j, bound)
		d.bounds = append(d.bounds, top)
		d.thresholds = append(d.thresholds, 1.3*float64(top)*math.Log(2*float64(last+1)/beta)/epsilon)
	}
	return d
}

// top is U.
func (d domains) top() int64 { return d.bounds[len(d.bounds)-1] }

// kept returns how many sub-domains count: up to the last one whose estimate
// exceeds its threshold. estimates(j) is the estimate of sub-domain j.
func (d domains) kept(estimates func(j int) float64) int {
	for j := len(d.bounds) - 1; j >= 0; j-- {
		if estimates(j) > d.thresholds[j] {
			return j + 1
		}
	}
	return 0
}

// layout lists count instances for every sub-domain. c has the budget of each.
func (d domains) layout(c Config, count int) (*layout, error) {
	var groups []group
	for _, bound := range d.bounds {
		sum, err := newNoisySum(c, bound)
		if err != nil {
			return nil, err
		}
		groups = append(groups, group{sum: sum, run: run{count: count}})
	}
	return newLayout(groups...)
}

// perInstance returns c with the budget of each instance of one SumDP.
//
// Neighbours under zero-out differ in one sub-domain, so every instance may spend
// everything (parallel composition). Under replace-one the old and the new value
// may lie in two sub-domains. Both change, so every instance gets half.
// In that mode a change across sub-domains is a zero-out in each, at ε/2 + ε/2. A
// change within one costs ε*, ε₁ and, with floods made for zero-out, 2·ε₂ of half
// the budget, which is less than all of it; and doubling the shift doubles the ε of
// a flood under Theorem 10 of GKMPS but not under the tight calibration, which
// therefore keeps floods for replace-one.
func perInstance(c Config, bound int64) Config {
	if c.Relation != fl.ReplaceOne || domainOf(bound) == 0 {
		return c
	}
	if c.Calibration != CalibrationTight {
		c.Relation = fl.ZeroOut
	}
	return c.with(c.budget().half())
}
