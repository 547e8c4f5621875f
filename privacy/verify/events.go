package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// maxSymbols is about the number of values that an observation is reduced to.
const maxSymbols = 64

// edgesOf turns observations of two inputs, those that choose the event, into the
// edges of at most 2·maxSymbols intervals. Interval i is (edges[i−1], edges[i]], the
// last one is open. A value that is frequent has an interval of its own.
func edgesOf(a, b []float64) []float64 {
	pooled := slices.Concat(a, b)
	slices.Sort(pooled)
	var edges []float64
	step := max(len(pooled)/maxSymbols, 1)
	for i := 0; i < len(pooled); {
		j := i
		for j < len(pooled) && pooled[j] == pooled[i] {
			j++
		}
		switch {
		case j-i >= step: // frequent
			edges = append(edges, math.Nextafter(pooled[i], math.Inf(-1)), pooled[i])
		case i/step != j/step:
			edges = append(edges, pooled[i])
		}
		i = j
	}
	return slices.Compact(edges)
}

// histogram counts the observations in each interval.
func histogram(edges, values []float64) []int {
	counts := make([]int, len(edges)+1)
	for _, v := range values {
		counts[sort.SearchFloat64s(edges, v)]++
	}
	return counts
}

// event is a set of intervals.
type event []bool

func (e event) hits(counts []int) (n int) {
	for i, in := range e {
		if in {
			n += counts[i]
		}
	}
	return n
}

// bestEvent returns the event with the largest bound on the given observations: a
// threshold on the observation, from either side, or on the estimated ratio of the
// two probabilities of its interval.
func bestEvent(a, b []int, bound func(k, other int) float64) event {
	index := make([]int, len(a))
	for i := range index {
		index[i] = i
	}
	ratio := func(i int) float64 { return (float64(a[i]) + 0.5) / (float64(b[i]) + 0.5) }
	byRatio, falling := slices.Clone(index), slices.Clone(index)
	slices.SortStableFunc(byRatio, func(i, j int) int { return cmp.Compare(ratio(j), ratio(i)) })
	slices.Reverse(falling)
	best, most := make(event, len(a)), math.Inf(-1)
	for _, order := range [][]int{byRatio, index, falling} {
		k, other := 0, 0
		for n, i := range order {
			k, other = k+a[i], other+b[i]
			if v := bound(k, other); v > most {
				most = v
				clear(best)
				for _, in := range order[:n+1] {
					best[in] = true
				}
			}
		}
	}
	return best
}

// describe prints the intervals of an event.
func (e event) describe(edges []float64) string {
	text := ""
	for i := 0; i < len(e); {
		if !e[i] {
			i++
			continue
		}
		from, to := math.Inf(-1), math.Inf(1)
		if i > 0 {
			from = edges[i-1]
		}
		for i < len(e) && e[i] {
			i++
		}
		if i <= len(edges) {
			to = edges[i-1]
		}
		if text != "" {
			text += " or "
		}
		if from == math.Nextafter(to, math.Inf(-1)) {
			text += fmt.Sprintf("{%.6g}", to)
			continue
		}
		text += fmt.Sprintf("(%.6g, %.6g]", from, to)
	}
	return text
}
