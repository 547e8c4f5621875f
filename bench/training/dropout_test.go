package training

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// The quorum is the largest number of reports that a round misses with a probability of at most one
// in a million, by the binomial law.
func TestTheQuorumIsHardlyMissed(t *testing.T) {
	for _, c := range []struct {
		cohort  int
		dropout float64
	}{{60_000, 0.1}, {60_000, 0.3}, {2000, 0.9}, {100, 0.5}} {
		q, err := quorum(c.cohort, c.dropout)
		if err != nil {
			t.Fatal(err)
		}
		missed := func(reports int) float64 { // sums up the probabilities one by one
			sum, law := 0., distuv.Binomial{N: float64(c.cohort), P: 1 - c.dropout}
			for k := range reports {
				sum += law.Prob(float64(k))
			}
			return sum
		}
		if at, above := missed(q), missed(q+1); !(at <= 1e-6 && above > 1e-6) {
			t.Errorf("%+v: quorum %d is missed with probability %g, one more report with %g", c, q, at, above)
		}
	}
	if q, err := quorum(60_000, 0); q != 60_000 || err != nil {
		t.Errorf("nobody drops out: %d, %v", q, err)
	}
	var p *fl.ParamError
	if q, err := quorum(10, 0.9); !errors.As(err, &p) || p.Param != "--dropout" {
		t.Errorf("ten clients: %d, %v", q, err)
	}
}

// What is promised rests on the reports of a quorum, in every mechanism; the planner stays within its
// budget with these.
func TestPromisesRestOnTheQuorum(t *testing.T) {
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 50, 10), dataset.Grey)
	if err != nil {
		t.Fatal(err)
	}
	s := setting{
		Training: plan.Training{Dim: task.model.Dim(), Clients: 6000, Rounds: 6, Delta: 1e-6, L1: 7, L2: 1.4},
		epsilon:  1, model: task.model, server: planAll, dropout: 0.3,
	}
	few := s // the quorum are all clients, and nobody drops out
	few.dropout = 0
	if few.Clients, err = quorum(6000, 0.3); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"coco", "auto"} {
		c, err := parseContenders(name)
		if err != nil {
			t.Fatal(err)
		}
		with, err := c[0].course(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := c[0].course(t.Context(), few)
		if err != nil {
			t.Fatal(err)
		}
		if with.quorum != few.Clients || with.round.MinReports != few.Clients || with.cohort != 6000 || *with.central != *want.central || *with.local != *want.local {
			t.Errorf("%s: quorum %d of %d, ε %g and %g, want %d and %g, %g", name, with.quorum, with.cohort, *with.local, *with.central, few.Clients, *want.local, *want.central)
		}
		if name == "auto" && !(*with.central <= 1 && *with.central > 0.9) {
			t.Errorf("auto has a central ε of %g, want nearly 1", *with.central)
		}
	}
	// With clients that take part once, the cohorts are smaller and the quorums a smaller part of them.
	s.Participations = 1
	schedule, err := s.schedule(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	least, err := quorum(1000, 0.3)
	if err != nil || schedule.Cohort != least {
		t.Errorf("planned for %d reports, want %d, %v", schedule.Cohort, least, err)
	}
}

// The share of clients that report is as asked, of a mechanism and of a trusted server, and the
// number of reports differs between rounds. 6 standard deviations of a binomial law with n = 2000 are
// 0.061 of it; the seeds are fixed.
func TestClientsDropOut(t *testing.T) {
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 2000, 10), dataset.Grey)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"none", "coco", "central"} {
		c, err := parseContenders(name)
		if err != nil {
			t.Fatal(err)
		}
		course, err := c[0].course(t.Context(), setting{
			Training: plan.Training{Dim: task.model.Dim(), Clients: 2000, Rounds: 2, Delta: 1e-6, L1: 7, L2: 1.4},
			epsilon:  4, model: task.model, server: planAll, dropout: 0.3,
		})
		if err != nil {
			t.Fatal(err)
		}
		clients, err := task.deal(experiment.Stream(1))
		if err != nil {
			t.Fatal(err)
		}
		means, err := course.open(clients, experiment.Stream(2))
		if err != nil {
			t.Fatal(err)
		}
		defer means.Close()
		var reports []int64
		for round := range 2 {
			e, err := means.Mean(t.Context(), round, make([]float64, task.model.Dim()))
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, e.Reports)
			if share := float64(e.Reports) / 2000; math.Abs(share-0.7) > 0.061 {
				t.Errorf("%s: %g of the clients report", name, share)
			}
		}
		if reports[0] == reports[1] {
			t.Errorf("%s: %d reports in both rounds", name, reports[0])
		}
	}
}

// A round with fewer reports than its quorum is not released.
func TestRoundsBelowTheQuorumAreNotReleased(t *testing.T) {
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 100, 10), dataset.Grey)
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseContenders("coco,central")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range c {
		s := setting{
			Training: plan.Training{Dim: task.model.Dim(), Clients: 100, Rounds: 1, Delta: 1e-6, L1: 7, L2: 1.4},
			epsilon:  4, model: task.model, server: planAll, dropout: 0.1,
		}
		course, err := c.course(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if s.dropout = 1; c.role == trustedServer { // nobody reports: more than the course expects
			course, err = c.trusted(s)
		} else {
			course.open = func(clients holders, rng *rand.Rand) (rounds, error) {
				gradients, err := clients.On(task.model, c.shrunk)
				if err != nil {
					return nil, err
				}
				some := s
				some.dropout = 0.5
				return trainer.NewSimulation(trainer.SimulationConfig{
					Gradients: gradients, Cohort: 100, Describe: func(int) fl.Round { return course.round }, Encode: some.encode, Rand: rng,
				})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := task.run(t.Context(), course.recipe, experiment.Stream(3)); !errors.Is(err, fl.ErrTooFewReports) {
			t.Errorf("%s: %v, want ErrTooFewReports", c.name, err)
		}
	}
}
