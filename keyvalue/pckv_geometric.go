package keyvalue

import "github.com/hushgrad/hushgrad/fl/exact"

// geometric draws the number of failures before the first success of trials that
// succeed with probability hits/total ≤ 1/2, exactly and in O(1) expected time,
// however small the probability is. It follows the block decomposition of Bringmann
// and Friedrich, "Exact and Efficient Generation of Geometric Random Variates and
// Random Graphs", ICALP 2013.
type geometric struct {
	hits, total uint64 // total ≤ 2^62
	block       uint64 // the largest number of trials with at most one expected success
}

func newGeometric(hits, total uint64) geometric {
	return geometric{hits: hits, total: total, block: total / hits}
}

// gap returns the number of failures, or any number of at least limit when there are
// at least limit.
func (g geometric) gap(limit uint64, choose exact.Chooser) uint64 {
	var blocks uint64
	for blocks*g.block < limit && g.allFail(g.block, choose) {
		blocks++
	}
	if blocks*g.block >= limit {
		return limit
	}
	for {
		if i, ok := g.propose(choose); ok {
			return blocks*g.block + i
		}
	}
}

// propose draws a place in a block that is known to have a success, and accepts it
// when a run of failures leads there: accepted places have the law of the first
// success. It accepts with probability at least 1−1/e.
func (g geometric) propose(choose exact.Chooser) (place uint64, ok bool) {
	place = choose.Uniform(g.block)
	return place, g.allFail(place, choose)
}

// allFail is true with probability (1−q)^n, exactly, where q = hits/total and
// n ≤ block. The first failure of trials with probabilities nq/1, (n−1)q/2, (n−2)q/3, …
// comes at an odd place with probability 1 − nq + C(n,2)q² − …, after von Neumann.
// It takes fewer than e trials on average.
func (g geometric) allFail(n uint64, choose exact.Chooser) bool {
	for i := uint64(0); ; i++ {
		// (n−i)·hits ≤ block·hits ≤ total.
		weight := (n - i) * g.hits
		goesOn := choose.Weighted([]uint64{g.total - weight, weight}) == 1
		if goesOn && i > 0 {
			goesOn = choose.Uniform(i+1) == 0
		}
		if !goesOn {
			return i%2 == 0
		}
	}
}
