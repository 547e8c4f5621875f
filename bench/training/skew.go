package training

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distmv"

	"github.com/hushgrad/hushgrad/trainer"
)

// maxConcentration is the largest of skewedClients: clients are alike there.
const maxConcentration = 1e6

// skewedClients is trainer.NewClients for clients that differ in their classes. Each client draws its
// shares of the classes from a Dirichlet distribution with the given concentration, above 0
// and at most maxConcentration. At 0.1 most of its examples are of one or two classes; at 100 it
// is much like every other. It then draws its examples without replacement, and leaves out a class
// once that is used up (Hsu, Qi and Brown, Measuring the Effects of Non-Identical Data Distribution
// for Federated Visual Classification, 2019, arXiv:1909.06335, section 3).
func skewedClients(x [][]float64, labels []int, n int, concentration float64, rng *rand.Rand) (*trainer.Clients, error) {
	return trainer.NewClientsInOrder(x, labels, n, dealSkewed(labels, n, concentration, rng))
}

// dealSkewed returns the places of the examples that the clients hold, as many for each: the first client's first. The
// labels are at least 0.
func dealSkewed(labels []int, clients int, concentration float64, rng *rand.Rand) (order []int) {
	// What is left of each class, in a random order.
	left := make([][]int, slices.Max(labels)+1)
	alpha := make([]float64, len(left))
	for _, i := range rng.Perm(len(labels)) {
		left[labels[i]] = append(left[labels[i]], i)
	}
	for k := range alpha {
		alpha[k] = concentration
	}
	wants := distmv.NewDirichlet(alpha, rng)
	for range clients {
		share := wants.Rand(nil)
		for range len(labels) / clients {
			k := pick(share, left, rng)
			last := len(left[k]) - 1
			order, left[k] = append(order, left[k][last]), left[k][:last]
		}
	}
	return order
}

// pick draws a class by the client's shares, among the classes with examples left. Where the
// shares of all these classes are 0, it takes the class with the most examples left.
func pick(share []float64, left [][]int, rng *rand.Rand) int {
	total, most := 0., 0
	for k, l := range left {
		if len(l) > 0 {
			total += share[k]
		}
		if len(l) > len(left[most]) {
			most = k
		}
	}
	at := rng.Float64() * total
	for k, l := range left {
		if len(l) == 0 {
			continue
		}
		if at -= share[k]; at < 0 {
			return k
		}
	}
	return most
}
