package training

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privunit"
	"github.com/hushgrad/hushgrad/trainer"
)

// course is the course of sites that send sums of their records. Its ε is of one round.
func (s sites) course(ctx context.Context, at setting, mechanism string) (course, error) {
	q := plan.Request{
		Mechanism: mechanism, Dim: at.Dim, Clients: s.sites, Records: at.Clients, Rounds: s.rounds, Budget: at.epsilon, Delta: s.delta,
		Clip: at.L2, L1: at.L1, L2: at.L2,
	}
	if mechanism == honestName {
		q.Mechanism, q.HonestBudget, q.Honest, q.Budget = hdsum.SharesName, at.epsilon, honestOf, 0
	}
	run, err := q.Run(ctx)
	if err != nil {
		return course{}, err
	}
	r := run.Template
	return course{participations: s.rounds, quorum: s.sites, scale: r.Scale, round: r, recipe: recipe{
		rounds: s.rounds, cohort: at.Clients, steps: at.steps,
		open: func(clients holders, rng *rand.Rand) (rounds, error) {
			gradients, err := clients.On(at.model, false)
			return &summing{round: r, gradients: gradients, sites: s.sites, rng: rng}, err
		},
	}}, nil
}

// reports is the course of sites that send reports of their records, as the planner plans it.
func (s sites) reports(ctx context.Context, at setting, trust plan.Trust) (course, error) {
	q := plan.Request{
		Mechanism: mechanisms.Auto, Trust: trust, Dim: at.Dim, Clients: s.sites, Records: at.Clients, Rounds: s.rounds, Budget: at.epsilon,
		Delta: s.delta, L1: at.L1, L2: at.L2, Centred: at.Centred, MaxLearningRate: at.server.most,
	}
	if trust == plan.Nobody {
		q.Rounds = 0 // the planner takes few, because each record reports once
	}
	run, err := q.Run(ctx)
	if err == nil && run.Rounds > s.rounds {
		q.Rounds = s.rounds
		run, err = q.Run(ctx)
	}
	if err != nil {
		return course{}, err
	}
	r := run.Template
	return course{participations: run.Affordable, quorum: run.Cohort, scale: r.Scale, round: r, recipe: recipe{
		rounds: run.Rounds, cohort: run.Cohort, steps: func(float64) plan.Steps { return run.Steps },
		open: func(clients holders, rng *rand.Rand) (rounds, error) {
			gradients, err := clients.On(at.model, run.Mechanism != privunit.Name)
			if err != nil {
				return nil, err
			}
			return trainer.NewSimulation(trainer.SimulationConfig{
				Gradients: gradients, Cohort: run.Cohort, Describe: func(int) fl.Round { return r }, Rand: rng,
			})
		},
	}}, nil
}

// summing are rounds of sites that send sums of their records.
type summing struct {
	round     fl.Round
	gradients trainer.Gradients // of records
	sites     int
	rng       *rand.Rand
	sent      int64
}

// Mean implements trainer.Rounds.
func (s *summing) Mean(ctx context.Context, round int, params []float64) (*fl.Estimate, error) {
	r := s.round
	r.ID, r.PublicSeed = fmt.Sprintf("sites-%d", round), [32]byte{1, byte(round), byte(round >> 8)}
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	all := m.NewAggregator()
	if err := trainer.EachSite(ctx, s.gradients, s.sites, params, 0, s.sites, func(_ int, records iter.Seq[[]float64]) error {
		sum, err := m.(fl.RecordMechanism).NewRecordSum(s.rng)
		if err != nil {
			return err
		}
		for grad := range records {
			if err := sum.Add(grad); err != nil {
				return err
			}
		}
		report, err := sum.Append(nil)
		if err != nil {
			return err
		}
		s.sent += int64(len(report))
		return all.Add(report)
	}); err != nil {
		return nil, err
	}
	return all.Estimate()
}

// Bytes counts the bytes of reports.
func (s *summing) Bytes() int64 { return s.sent }

func (s *summing) Close() error { return s.gradients.Close() }
