package training

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/baseline/central"
	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/baseline/gaussian"
	"github.com/hushgrad/hushgrad/baseline/laplace"
	"github.com/hushgrad/hushgrad/baseline/privunit"
	"github.com/hushgrad/hushgrad/baseline/ternary"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/privacy/compose"
	"github.com/hushgrad/hushgrad/signsketch"
)

// role is what a contender's ε means and which curve it belongs to.
type role uint8

const (
	reference     role = iota // no ε at all
	ours                      // ε of one report, against everybody
	planned                   // central ε; the planner does the rest
	shuffledSum               // central ε, in the shuffle model
	localBaseline             // ε of one report, against everybody
	trustedServer             // central ε, with a server that sees every gradient
)

// central tells whether the ε that is swept is the central one.
func (r role) central() bool { return r == planned || r == shuffledSum || r == trustedServer }

// contender is one curve.
type contender struct {
	name string
	role role
	// shrunk tells whether gradients have the smallest L1 norm, which is then what is
	// clipped, and not the L2 norm. Both are clipped to their guesses.
	shrunk bool
}

var contenders = []contender{
	{name: dense.Name, role: reference},
	{name: auto.Name, role: planned, shrunk: true},
	{name: coco.Name, role: ours, shrunk: true},
	{name: collision.Name, role: ours, shrunk: true},
	{name: signsketch.Name, role: ours, shrunk: true},
	{name: hdsum.Name, role: shuffledSum},
	{name: gaussian.Name, role: localBaseline},
	{name: laplace.Name, role: localBaseline, shrunk: true},
	{name: privunit.Name, role: localBaseline},
	{name: ternary.Name, role: localBaseline, shrunk: true},
	{name: "central", role: trustedServer},
}

// setting is what one cell of the sweep trains with.
type setting struct {
	plan.Training         // rounds, clients, δ, norms
	epsilon       float64 // of the kind that the contender's role says
}

// course is a recipe with what it promises.
type course struct {
	recipe
	participations int
	local, central *float64 // ε of one report, and of all of a client's reports
	sparsity       int      // 0 if not sparse
	scale          float64
}

// course plans a contender's run.
func (c contender) course(s setting) (course, error) {
	switch c.role {
	case planned:
		s.Epsilon = s.epsilon
		schedule, err := s.Schedule()
		if err != nil {
			return course{}, err
		}
		out, err := c.rounds(s, schedule.Participations, s.round(schedule.Mechanism, schedule.EpsilonLocal, schedule.Scale, schedule.Sparsity))
		out.steps = func(float64) plan.Steps { return schedule.Steps }
		return out, err
	case trustedServer:
		return c.trusted(s)
	case shuffledSum:
		return c.summed(s)
	case reference:
		return c.rounds(s, s.Rounds, s.round(c.name, math.Inf(1), 1, 0))
	}
	sparsity, scale := s.Shape()
	r := s.round(c.name, s.epsilon, scale, sparsity)
	switch c.name {
	case gaussian.Name:
		r.Scale, r.Params = s.L2, nil
		r.Delta = s.Delta / float64(2*s.Rounds) // half of δ for the reports, half for their composition
	case privunit.Name:
		r.Scale, r.Params = s.L2, nil
	case laplace.Name:
		r.Scale, r.Params = s.L1, nil
	}
	return c.rounds(s, s.Rounds, r)
}

// round describes a round; sparsity 0 is none.
func (s setting) round(mechanism string, epsilon, scale float64, sparsity int) fl.Round {
	r := fl.Round{
		ID: "bench", Mechanism: mechanism, Dim: s.Dim, Scale: scale, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1,
		PublicSeed: [32]byte{1}, // replaced in every round
	}
	if sparsity > 0 {
		r.Params = fl.Params{"sparsity": fl.Int(sparsity)}
	}
	return r
}

// cohort is the number of clients of a round when each takes part so many times.
func (s setting) cohort(participations int) int { return s.Clients * participations / s.Rounds }

// steps are chosen from the noise that was measured in the first round.
func (s setting) steps(noise float64) plan.Steps { return plan.NewSteps(noise, s.L2, s.Rounds) }

// rounds is the course of a mechanism.
func (c contender) rounds(s setting, participations int, r fl.Round) (course, error) {
	out := course{participations: participations, scale: r.Scale, recipe: recipe{
		rounds: s.Rounds, cohort: s.cohort(participations), shrunk: c.shrunk, steps: s.steps,
		open: func(rng *rand.Rand) (collector, error) { return openRound(r, everyone, rng) },
	}}
	completed, err := fl.Complete(r)
	if err != nil {
		return course{}, err
	}
	m, err := fl.Open(completed)
	if err != nil {
		return course{}, err
	}
	if completed.Params.Has("sparsity") {
		if out.sparsity, err = completed.Params.Int("sparsity"); err != nil {
			return course{}, err
		}
	}
	g := m.Guarantee()
	if g.Model == fl.NoPrivacy {
		return out, nil
	}
	if g.Model == fl.Local {
		out.local = &g.Epsilon
	}
	out.central, err = composed(m, out.cohort, participations, s.Delta)
	return out, err
}

// composed is the central ε of all of a client's reports.
func composed(m fl.Mechanism, cohort, participations int, delta float64) (*float64, error) {
	if g := m.Guarantee(); g.Model == fl.Shuffle && participations == 1 {
		return &g.Epsilon, nil
	}
	one, err := compose.Reports(m, cohort, compose.Options{})
	if err != nil {
		return nil, err
	}
	all, err := one.Compose(participations)
	if err != nil {
		return nil, err
	}
	bounds, err := all.Epsilon(delta)
	return &bounds.Upper, err
}

// summed is the course of sumdp: its noise depends on the number of reports only, so
// every client takes part once, in few large rounds.
func (c contender) summed(s setting) (course, error) {
	s.Rounds = max(1, s.Rounds/3)
	r := s.round(c.name, s.epsilon, s.L2, 0)
	r.Delta = s.Delta
	r.Params = fl.Params{hdsum.ParamRange: fl.Real(0.8), hdsum.ParamLevels: fl.Int(1)}
	r.MinReports = s.cohort(1)
	return c.rounds(s, 1, r)
}

// trusted is the course of a server that is trusted with every gradient.
func (c contender) trusted(s setting) (course, error) {
	g, err := central.New(s.epsilon, s.Delta, s.Rounds, s.L2)
	if err != nil {
		return course{}, err
	}
	return course{
		participations: s.Rounds, scale: s.L2, central: &s.epsilon,
		recipe: recipe{
			rounds: s.Rounds, cohort: s.Clients, steps: s.steps,
			open: func(rng *rand.Rand) (collector, error) { return newTrusted(g, s.Dim, rng), nil },
		},
	}, nil
}
