package trainer

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// SimulationConfig describes rounds without a server. All fields but Encode are required.
type SimulationConfig struct {
	// Gradients are the clients' gradients. The simulation closes them.
	Gradients Gradients
	// Cohort is the number of clients of a round, in [1, Gradients.Len()].
	Cohort int
	// Describe returns the public description of a round, from 0. Its PublicSeed is
	// replaced by a fresh one, drawn from Rand.
	Describe func(round int) fl.Round
	// Encode is what member number i of a round's cohort does, from 0: it appends its
	// report, or returns dst as it is when it takes no part. nil is Mechanism.Encode.
	Encode func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error)
	// Rand supplies all randomness: use fl.NewRand, or a seeded generator for an
	// experiment that is to repeat.
	Rand *rand.Rand
}

// Simulation is Rounds in one process. The clients of a round compute their gradients,
// encode them with the round's mechanism, and an aggregator decodes the mean. Reports and
// means are as in a federation, only the network is missing.
//
// It is not safe for concurrent use, and it computes on one core: run several at once.
type Simulation struct {
	c    SimulationConfig
	sent int64
}

var _ Rounds = (*Simulation)(nil)

// NewSimulation checks what it is given. The error names the field of c that is missing or out
// of range.
func NewSimulation(c SimulationConfig) (*Simulation, error) {
	switch {
	case c.Gradients == nil:
		return nil, invalid("gradients", nil, "must be given")
	case c.Cohort < 1 || c.Cohort > c.Gradients.Len():
		return nil, invalid("cohort", c.Cohort, "must be in [1, %d], the number of clients", c.Gradients.Len())
	case c.Describe == nil:
		return nil, invalid("describe", nil, "must be given")
	case c.Rand == nil:
		return nil, invalid("rand", nil, "must be given")
	}
	if c.Encode == nil {
		c.Encode = func(m fl.Mechanism, dst []byte, _ int, grad []float64, rng *rand.Rand) ([]byte, error) {
			return m.Encode(dst, grad, rng)
		}
	}
	return &Simulation{c: c}, nil
}

// Mean holds a round: see Rounds.
func (s *Simulation) Mean(ctx context.Context, round int, params []float64) (*fl.Estimate, error) {
	r := s.c.Describe(round)
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(s.c.Rand.Uint32())
	}
	_, mechanism, err := fl.Complete(r)
	if err != nil {
		return nil, err
	}
	aggregator := mechanism.NewAggregator()
	var bytes []byte
	var reports [][]byte
	flush := func() error {
		s.sent += int64(len(bytes))
		err := fl.AddBatch(mechanism, aggregator, reports)
		bytes, reports = bytes[:0], reports[:0]
		return err
	}
	first := round * s.c.Cohort
	err = s.c.Gradients.Each(ctx, params, first, first+s.c.Cohort, func(turn int, grad []float64) error {
		start := len(bytes)
		longer, err := s.c.Encode(mechanism, bytes, turn-first, grad, s.c.Rand)
		if err != nil || len(longer) == start {
			return err
		}
		bytes = longer
		if reports = append(reports, longer[start:len(longer):len(longer)]); len(reports) < together {
			return nil
		}
		return flush()
	})
	if err == nil && len(reports) > 0 {
		err = flush()
	}
	if err != nil {
		return nil, fmt.Errorf("trainer: simulation: %w", err)
	}
	return aggregator.Estimate()
}

// Bytes returns the length of all reports so far.
func (s *Simulation) Bytes() int64 { return s.sent }

// Close closes the clients' gradients. The simulation cannot be used afterwards. Closing twice
// is allowed.
func (s *Simulation) Close() error { return s.c.Gradients.Close() }
