package trainer

import "math/rand/v2"

// Clients are the clients of a simulation: which examples each of them holds, and when it
// takes part. They are immutable, and safe for concurrent use. [Clients.On] computes their
// gradients.
//
// Clients take part in turn, and each as often as every other, give or take once: turn
// number t, from 0, is the turn of client t mod Len. A round of n clients is n turns, and the
// next round goes on where it ended.
type Clients struct {
	x      [][]float64
	labels []int
	shares shares
}

// NewClients deals labelled examples out to n clients, in an order drawn from rng. All get
// the same number, and what is left over is not used. The examples are not copied. The
// error names labels when there is not one per example, and clients unless n is
// between 1 and the number of examples.
func NewClients(x [][]float64, labels []int, n int, rng *rand.Rand) (*Clients, error) {
	return NewClientsInOrder(x, labels, n, rng.Perm(len(x)))
}

// NewClientsInOrder is NewClients for clients whose examples the caller chooses. order has different
// places in x, and is not copied. The first client holds the examples at the first places, and so on. The error also
// names order.
func NewClientsInOrder(x [][]float64, labels []int, n int, order []int) (*Clients, error) {
	if len(labels) != len(x) {
		return nil, invalid("labels", len(labels), "must be one for each of the %d examples", len(x))
	}
	if n < 1 || n > len(order) {
		return nil, invalid("clients", n, "must be in [1, %d], the number of examples", len(order))
	}
	seen := make([]bool, len(x))
	for _, i := range order {
		if i < 0 || i >= len(x) || seen[i] {
			return nil, invalid("order", i, "must be in [0, %d), each place at most once", len(x))
		}
		seen[i] = true
	}
	return &Clients{x: x, labels: labels, shares: shares{order: order, each: len(order) / n, clients: n}}, nil
}

// Len returns the number of clients.
func (c *Clients) Len() int { return c.shares.clients }

// examples appends the examples of the client whose turn it is.
func (c *Clients) examples(turn int, x [][]float64, labels []int) ([][]float64, []int) {
	for _, i := range c.shares.of(turn) {
		x, labels = append(x, c.x[i]), append(labels, c.labels[i])
	}
	return x, labels
}

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
