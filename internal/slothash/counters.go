package slothash

import "errors"

var errOtherRound = errors.New("slothash: merge: the tallies belong to different rounds")

// counters are the arrays of integers in which a tally keeps what it counted,
// each behind a scatter.
type counters struct{ arrays []*scatter }

func newCounters(sizes ...int) counters {
	var c counters
	for _, n := range sizes {
		c.arrays = append(c.arrays, newScatter(make([]int32, n)))
	}
	return c
}

// merge adds the counts of o.
func (c counters) merge(o counters) {
	for i, a := range c.arrays {
		sum := a.values()
		for j, v := range o.arrays[i].values() {
			sum[j] += v
		}
	}
}

// State implements Tally.
func (c counters) State() [][]int32 {
	state := make([][]int32, len(c.arrays))
	for i, a := range c.arrays {
		state[i] = a.values()
	}
	return state
}

// SetState implements Tally.
func (c counters) SetState(state [][]int32) {
	for i, a := range c.arrays {
		copy(a.values(), state[i])
	}
}

func widen(a []int32) []int64 {
	out := make([]int64, len(a))
	for i, v := range a {
		out[i] = int64(v)
	}
	return out
}
