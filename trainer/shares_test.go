package trainer

import (
	"math"
	"slices"
	"testing"
)

// Skewed clients hold disjoint examples, the same number each. The smaller the concentration the
// fewer classes a client holds.
func TestSkewedClientsDifferInTheirClasses(t *testing.T) {
	const examples, classes, clients = 6000, 10, 600
	labels := make([]int, examples)
	for i := range labels {
		labels[i] = i % classes
	}
	// The mean number of classes that a client with ten examples would hold if all were
	// equally likely, exp of the entropy of its shares: 1 to 10.
	var held []float64
	for _, concentration := range []float64{0.01, 0.1, 1, 1e6} {
		s := must[shares](t)(dealSkewed(labels, clients, concentration, testRand(7)))
		if s.each != 10 || s.clients != clients {
			t.Fatalf("%d clients with %d examples", s.clients, s.each)
		}
		if seen := slices.Sorted(slices.Values(s.order)); len(seen) != examples || seen[0] != 0 || len(slices.Compact(seen)) != examples {
			t.Fatalf("concentration %g: %d examples are dealt, not all once", concentration, len(seen))
		}
		mean := 0.
		for turn := range clients {
			count, entropy := map[int]float64{}, 0.
			for _, i := range s.of(turn) {
				count[labels[i]]++
			}
			for _, n := range count {
				entropy -= n / 10 * math.Log(n/10)
			}
			mean += math.Exp(entropy) / clients
		}
		held = append(held, mean)
	}
	// Seeded: these are 1.1, 2.1, 4.5 and 5.9, and a wide margin stands for any other seed.
	if !slices.IsSorted(held) || held[0] > 2 || held[1] > 3 || held[2] < 4 || held[3] < 5.5 || held[3] > 6.5 {
		t.Errorf("a client holds %.2f classes at concentrations 0.01, 0.1, 1 and 10⁶", held)
	}
	again := must[shares](t)(dealSkewed(labels, clients, 1, testRand(7)))
	if same := must[shares](t)(dealSkewed(labels, clients, 1, testRand(7))); !slices.Equal(same.order, again.order) {
		t.Error("equal generators deal differently")
	}
}

// Where a client's shares of what is left are all 0, it takes the class with the most examples.
func TestAnEmptyClassIsLeftOut(t *testing.T) {
	left := [][]int{{}, {1, 2}, {3, 4, 5}}
	if k := pick([]float64{1, 0, 0}, left, testRand(1)); k != 2 {
		t.Errorf("picked class %d, want 2", k)
	}
	if k := pick([]float64{0.9, 0.1, 0}, left, testRand(1)); k != 1 {
		t.Errorf("picked class %d, want 1", k)
	}
}

func TestSkewErrors(t *testing.T) {
	x, labels := [][]float64{{1}, {2}, {3}}, []int{0, 1, 0}
	for want, arguments := range map[string]struct {
		labels        []int
		n             int
		concentration float64
	}{
		"trainer: labels: got 2, rule: must be one for each": {labels[:2], 1, 1},
		"trainer: labels: got -1, rule: must be at least 0":  {[]int{0, -1, 1}, 1, 1},
		"trainer: clients: got 4":                            {labels, 4, 1},
		"trainer: concentration: got 0":                      {labels, 1, 0},
		"trainer: concentration: got NaN":                    {labels, 1, math.NaN()},
		"trainer: concentration: got +Inf":                   {labels, 1, math.Inf(1)},
	} {
		_, err := NewSkewedClients(x, arguments.labels, arguments.n, arguments.concentration, testRand(1))
		refuses(t, err, want)
	}
	if c, err := NewSkewedClients(x, labels, 3, 1e-300, testRand(1)); err != nil || c.Len() != 3 {
		t.Errorf("the smallest concentrations: %v", err)
	}
}
