package training

import (
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// collector is what a round does with the gradients of its clients.
type collector interface {
	// add takes the gradient of client number i of the cohort.
	add(i int, grad []float64) error
	// flush is called from time to time, and after the last client.
	flush() error
	estimate() (fl.Series, error)
	// sent is the bytes of all reports so far.
	sent() int
}

// member encodes the gradient of client number i of a cohort, or returns dst if the
// client does not take part.
type member func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error)

func everyone(m fl.Mechanism, dst []byte, _ int, grad []float64, rng *rand.Rand) ([]byte, error) {
	return m.Encode(dst, grad, rng)
}

// reports is the collector of a mechanism.
type reports struct {
	mechanism  fl.Mechanism
	aggregator fl.Aggregator
	encode     member
	rng        *rand.Rand
	bytes      []byte
	batch      [][]byte
	total      int
}

// openRound opens a round of the mechanism that r describes, with fresh public
// randomness.
func openRound(r fl.Round, encode member, rng *rand.Rand) (*reports, error) {
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(rng.Uint32())
	}
	r, err := fl.Complete(r)
	if err != nil {
		return nil, err
	}
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	return &reports{mechanism: m, aggregator: m.NewAggregator(), encode: encode, rng: rng}, nil
}

func (c *reports) add(i int, grad []float64) error {
	start := len(c.bytes)
	longer, err := c.encode(c.mechanism, c.bytes, i, grad, c.rng)
	if err != nil || len(longer) == start {
		return err
	}
	c.bytes = longer
	c.batch = append(c.batch, longer[start:len(longer):len(longer)])
	return nil
}

func (c *reports) flush() error {
	if len(c.batch) == 0 {
		return nil
	}
	err := fl.AddBatch(c.mechanism, c.aggregator, c.batch)
	c.total += len(c.bytes)
	c.bytes, c.batch = c.bytes[:0], c.batch[:0]
	return err
}

func (c *reports) estimate() (fl.Series, error) {
	e, err := c.aggregator.Estimate()
	if err != nil {
		return fl.Series{}, err
	}
	return e.Series, nil
}

func (c *reports) sent() int { return c.total }
