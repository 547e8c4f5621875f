package training

import (
	"context"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// shortfall bounds the probability that a round has fewer reports than its quorum.
const shortfall = 1e-6

// quorum returns the number of reports with which a round closes, when each client of its cohort
// fails to report with probability dropout, in [0, 1): the largest one that a round misses with a
// probability of at most shortfall. A round that misses it is not released. It is the cohort
// where nobody drops out. The error names --dropout where it is below 2.
func quorum(cohort int, dropout float64) (int, error) {
	if dropout == 0 {
		return cohort, nil
	}
	reports := distuv.Binomial{N: float64(cohort), P: 1 - dropout}
	q := sort.Search(cohort, func(n int) bool { return reports.CDF(float64(n)) > shortfall })
	if q < 2 {
		return 0, fl.Invalid("--dropout", dropout, "must leave a round of %d clients a quorum of 2", cohort)
	}
	return q, nil
}

// quorum returns the quorum of a round when each client takes part in that number of rounds.
func (s setting) quorum(participations int) (int, error) {
	return quorum(s.cohort(participations), s.dropout)
}

// schedule plans a run whose rounds have the reports of a quorum.
func (s setting) schedule(ctx context.Context) (*plan.Schedule, error) {
	demands := s.Training
	demands.Epsilon = s.epsilon
	var err error
	if demands.Clients, err = s.quorum(s.Rounds); err != nil {
		return nil, err
	}
	schedule, err := demands.Schedule(ctx)
	if err != nil || schedule.Participations == s.Rounds || s.dropout == 0 {
		return schedule, err
	}
	// The share that drops out of a smaller cohort varies by more.
	demands.Participations = schedule.Participations
	least, err := s.quorum(demands.Participations)
	if err != nil {
		return nil, err
	}
	demands.Clients = least * s.Rounds / demands.Participations
	return demands.Schedule(ctx)
}

// encode is what a client of a simulation does: it reports, or drops out.
func (s setting) encode(m fl.Mechanism, dst []byte, _ int, grad []float64, rng *rand.Rand) ([]byte, error) {
	if s.dropout > 0 && rng.Float64() < s.dropout {
		return dst, nil
	}
	return m.Encode(dst, grad, rng)
}
