package trainer

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distmv"
)

// shares says which examples the clients hold. All hold the same number.
type shares struct {
	order   []int // client i holds those from i·each on
	each    int
	clients int
}

// of returns the examples of the client whose turn it is.
func (s shares) of(turn int) []int {
	client := turn % s.clients
	return s.order[client*s.each : (client+1)*s.each]
}

// deal gives examples to clients in an order drawn from rng.
func deal(examples, clients int, rng *rand.Rand) (shares, error) {
	if clients < 1 || clients > examples {
		return shares{}, invalid("clients", clients, "must be in [1, %d], the number of examples", examples)
	}
	return shares{order: rng.Perm(examples), each: examples / clients, clients: clients}, nil
}

// MaxConcentration is the largest of NewSkewedClients: clients are alike there.
const MaxConcentration = 1e6

// dealSkewed gives each client examples of classes that it draws.
func dealSkewed(labels []int, clients int, concentration float64, rng *rand.Rand) (shares, error) {
	if !(concentration > 0 && concentration <= MaxConcentration) {
		return shares{}, invalid("concentration", concentration, "must be in (0, %g]", float64(MaxConcentration))
	}
	s, err := deal(len(labels), clients, rng)
	if err != nil {
		return shares{}, err
	}
	if least := slices.Min(labels); least < 0 {
		return shares{}, invalid("labels", least, "must be at least 0")
	}
	// What is left of each class, in the order of the deal.
	left := make([][]int, slices.Max(labels)+1)
	alpha := make([]float64, len(left))
	for _, i := range s.order {
		left[labels[i]] = append(left[labels[i]], i)
	}
	for k := range alpha {
		alpha[k] = concentration
	}
	wants := distmv.NewDirichlet(alpha, rng)
	s.order = s.order[:0:0]
	for range clients {
		share := wants.Rand(nil)
		for range s.each {
			k := pick(share, left, rng)
			last := len(left[k]) - 1
			s.order, left[k] = append(s.order, left[k][last]), left[k][:last]
		}
	}
	return s, nil
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
