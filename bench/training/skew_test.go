package training

import (
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
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
		order := dealSkewed(labels, clients, concentration, experiment.Stream(7))
		if seen := slices.Sorted(slices.Values(order)); len(seen) != examples || seen[0] != 0 || len(slices.Compact(seen)) != examples {
			t.Fatalf("concentration %g: %d examples are dealt, not all once", concentration, len(seen))
		}
		mean := 0.
		for i := range clients {
			count, entropy := map[int]float64{}, 0.
			for _, at := range order[10*i : 10*i+10] {
				count[labels[at]]++
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
	if again := dealSkewed(labels, clients, 1, experiment.Stream(7)); !slices.Equal(again, dealSkewed(labels, clients, 1, experiment.Stream(7))) {
		t.Error("equal generators deal differently")
	}
}

// Where a client's shares of what is left are all 0, it takes the class with the most examples.
func TestAnEmptyClassIsLeftOut(t *testing.T) {
	left := [][]int{{}, {1, 2}, {3, 4, 5}}
	if k := pick([]float64{1, 0, 0}, left, experiment.Stream(1)); k != 2 {
		t.Errorf("picked class %d, want 2", k)
	}
	if k := pick([]float64{0.9, 0.1, 0}, left, experiment.Stream(1)); k != 1 {
		t.Errorf("picked class %d, want 1", k)
	}
}

// Examples that do not divide among the clients are left out, and the smallest concentrations are no fault.
func TestSkewedClientsHoldTheSameNumber(t *testing.T) {
	labels := []int{0, 1, 0, 1, 0, 0, 2}
	for _, concentration := range []float64{1e-300, 1, maxConcentration} {
		c, err := skewedClients(make([][]float64, len(labels)), labels, 3, concentration, experiment.Stream(1))
		if err != nil || c.Len() != 3 {
			t.Errorf("concentration %g: %v", concentration, err)
		}
		if order := dealSkewed(labels, 3, concentration, experiment.Stream(1)); len(order) != 6 {
			t.Errorf("concentration %g: %v is dealt, want two examples for each of 3 clients", concentration, order)
		}
	}
}
