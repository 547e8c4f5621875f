package keyvalues

import (
	"cmp"
	"fmt"
	"slices"
)

// truth is what clients of the PCKV paper's data hold.
type truth struct {
	frequency []float64
	mean      []float64 // of the clients that hold the key
	held      []int     // the keys that are held, the most frequent first
}

// ranked sorts the keys.
func (t *truth) ranked() *truth {
	for k, f := range t.frequency {
		if f > 0 {
			t.held = append(t.held, k)
		}
	}
	slices.SortStableFunc(t.held, func(a, b int) int { return cmp.Compare(t.frequency[b], t.frequency[a]) })
	return t
}

// quantity is what a gauge measures.
type quantity string

const (
	frequency quantity = "frequency"
	mean      quantity = "mean"
	// precision is the share of the keys estimated as the most frequent ones that are.
	precision quantity = "precision"
)

// gauge measures estimates: mean squared errors, or a precision, over the most frequent keys.
type gauge struct {
	of  quantity
	top int // number of keys; 0: all that somebody holds
}

// scope is the keys in words, title the gauge on axes.
func (g gauge) scope() string {
	if g.top == 0 {
		return "all keys"
	}
	return fmt.Sprintf("top %d", g.top)
}

func (g gauge) title() string {
	if g.of == precision {
		return "precision of the most frequent keys"
	}
	return "mean squared error of the " + string(g.of)
}

// keys are those that are measured.
func (g gauge) keys(t *truth) []int {
	if g.top == 0 {
		return t.held
	}
	return t.held[:min(g.top, len(t.held))]
}

// measure compares frequencies and means with the truth. O(keys·log keys) at most.
func (g gauge) measure(t *truth, frequencies, means []float64) float64 {
	keys := g.keys(t)
	if g.of == precision {
		return hits(keys, frequencies)
	}
	sum := 0.0
	for _, k := range keys {
		off := frequencies[k] - t.frequency[k]
		if g.of == mean {
			off = means[k] - t.mean[k]
		}
		sum += off * off
	}
	return sum / float64(len(keys))
}

// hits is the share of the keys that are among the same number of keys with the largest estimates.
func hits(keys []int, estimates []float64) float64 {
	order := make([]int, len(estimates))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(estimates[b], estimates[a]) })
	found := 0
	for _, k := range order[:len(keys)] {
		if slices.Contains(keys, k) {
			found++
		}
	}
	return float64(found) / float64(len(keys))
}
