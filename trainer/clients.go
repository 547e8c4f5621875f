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
	if len(labels) != len(x) {
		return nil, invalid("labels", len(labels), "must be one for each of the %d examples", len(x))
	}
	s, err := deal(len(x), n, rng)
	return &Clients{x: x, labels: labels, shares: s}, err
}

// NewSkewedClients is NewClients for clients that differ in their classes. Each client draws its
// shares of the classes from a Dirichlet distribution with the given concentration, above 0
// and at most MaxConcentration. At 0.1 most of its examples are of one or two classes; at 100 it
// is much like every other. It then draws its examples without replacement, and leaves out a class
// once that is used up (Hsu, Qi and Brown, Measuring the Effects of Non-Identical Data Distribution
// for Federated Visual Classification, 2019, arXiv:1909.06335, section 3). The error names a
// label below 0.
func NewSkewedClients(x [][]float64, labels []int, n int, concentration float64, rng *rand.Rand) (*Clients, error) {
	if len(labels) != len(x) {
		return nil, invalid("labels", len(labels), "must be one for each of the %d examples", len(x))
	}
	s, err := dealSkewed(labels, n, concentration, rng)
	return &Clients{x: x, labels: labels, shares: s}, err
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
