package training

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/bench/central"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/bench/privunitg"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/trainer"
)

// role is what a contender's ε means and which curve it belongs to.
type role uint8

const (
	reference     role = iota // no ε at all
	ours                      // ε of one report, against everybody
	planned                   // central ε; the planner does the rest
	pooled                    // central ε, of the sum of a round that nobody sees the parts of
	localBaseline             // ε of one report, against everybody
	trustedServer             // central ε, with a server that sees every gradient
	ofOwn                     // ε of one report, of a mechanism of the flag --with
)

// central reports whether the ε that is swept is the central one.
func (r role) central() bool { return r == planned || r == pooled || r == trustedServer }

// contender is one curve.
type contender struct {
	name string
	role role
	// shrunk is true for gradients with the smallest L1 norm. That norm is then clipped, and
	// the L2 norm otherwise, both to their guesses.
	shrunk bool
	own    experiment.Own // of ofOwn
}

// ownContenders are mechanisms of the flag --with.
func ownContenders(all []experiment.Own) (out []contender) {
	for _, o := range all {
		out = append(out, contender{name: o.Label, role: ofOwn, own: o})
	}
	return out
}

// described is a round of a mechanism of the flag --with. One that counts entries has the clip and the number of
// entries of ours, and gradients with the smallest L1 norm. Any other clips to the L2 norm.
func (c *contender) described(s setting) (fl.Round, error) {
	sparsity, scale := s.Shape()
	r := s.round(c.own.Mechanism, s.epsilon, scale, 0)
	r.Params, r.MinReports = c.own.Params(sparsity), s.cohort(s.Rounds)
	_, m, err := fl.Complete(r)
	if err != nil {
		return r, err
	}
	if c.shrunk = experiment.OfEntries(m); !c.shrunk {
		r.Scale = s.L2
	}
	return r, nil
}

// trustedName is the contender that trusts the server.
const trustedName = "central"

// honestName is the contender of two servers whose clients add a part of the noise: the central ε holds if nine clients of ten are honest, and twice as much without them.
const honestName = hdsum.SharesName + "-honest"

// honestOf is the share of honest clients of honestName.
const honestOf = 0.9

var contenders = []contender{
	{name: baseline.None, role: reference},
	{name: mechanisms.Auto, role: planned, shrunk: true},
	{name: coco.Name, role: ours, shrunk: true},
	{name: collision.Name, role: ours, shrunk: true},
	{name: signsketch.Name, role: ours, shrunk: true},
	{name: hdsum.Name, role: pooled},
	{name: hdsum.SharesName, role: pooled},
	{name: honestName, role: pooled},
	{name: baseline.Gaussian, role: localBaseline},
	{name: baseline.Laplace, role: localBaseline, shrunk: true},
	{name: privunitg.Name, role: localBaseline},
	{name: rivals.PCKVTernary, role: localBaseline, shrunk: true},
	{name: trustedName, role: trustedServer},
}

// setting is what one cell of the sweep trains with.
type setting struct {
	plan.Training         // rounds, clients, δ, norms
	epsilon       float64 // of the kind that the contender's role says
	// pictureL2 is the L2 norm of the gradient of one picture, which learning rates follow; 0: L2,
	// as where each client has one picture.
	pictureL2 float64
	model     *trainer.Model
	server    server
	sumdp     fl.Params
	dropout   float64 // probability that a client of a round does not report
}

// server is what the server does between rounds, where it is not left to the plan.
type server struct {
	rate, momentum, averaging float64 // 0, −1 and −1 are the plan's
	most                      float64 // limit of the planned rate; 0: none
}

// over returns the steps with what was set instead of planned.
func (o server) over(s plan.Steps) plan.Steps {
	if o.most > 0 {
		s.LearningRate = min(s.LearningRate, o.most)
	}
	if o.rate != 0 {
		s.LearningRate = o.rate
	}
	if o.momentum >= 0 {
		s.Momentum = o.momentum
	}
	if o.averaging >= 0 {
		s.Averaging = o.averaging
	}
	return s
}

// course is a recipe with what it promises.
type course struct {
	recipe
	participations int
	quorum         int      // reports below which a round is not released
	local, central *float64 // ε of one report, and of all of a client's reports
	localDelta     float64  // of all of a client's reports; the ε is localOfAll
	round          fl.Round // described in full; none for a trusted server
	sparsity       int      // 0 if not sparse
	scale          float64
	// noise is the standard error of a coordinate of a round's mean that was planned, in units of
	// the gradient; nil where nothing was.
	noise *float64
}

// localOfAll is the local ε of all reports of a client together, nil where there is none.
func (c course) localOfAll() *float64 {
	if c.local == nil {
		return nil
	}
	all := *c.local * float64(c.participations)
	return &all
}

// course plans a contender's run.
func (c contender) course(ctx context.Context, s setting) (course, error) {
	switch c.role {
	case planned:
		schedule, err := s.schedule(ctx)
		if err != nil {
			return course{}, err
		}
		r := s.round(schedule.Mechanism, schedule.EpsilonLocal, schedule.Scale, 0)
		r.Params = schedule.Params
		out, err := c.rounds(ctx, s, schedule.Participations, r)
		out.steps = func(float64) plan.Steps { return s.steps(schedule.Noise) }
		out.noise = &schedule.Noise
		return out, err
	case trustedServer:
		return c.trusted(s)
	case pooled:
		if c.name != hdsum.Name {
			return c.shared(ctx, s)
		}
		return c.summed(ctx, s)
	case ofOwn:
		r, err := c.described(s)
		if err != nil {
			return course{}, err
		}
		return c.rounds(ctx, s, s.Rounds, r)
	case reference:
		return c.rounds(ctx, s, s.Rounds, s.round(c.name, math.Inf(1), 1, 0))
	}
	sparsity, scale := s.Shape()
	r := s.round(c.name, s.epsilon, scale, sparsity)
	switch c.name {
	case baseline.Gaussian:
		r.Scale, r.Params = s.L2, nil
		r.Delta = s.Delta / float64(2*s.Rounds) // half of δ for the reports, half for their composition
	case privunitg.Name:
		r.Scale, r.Params = s.L2, nil
	case baseline.Laplace:
		r.Scale, r.Params = s.L1, nil
	}
	return c.rounds(ctx, s, s.Rounds, r)
}

// round describes a round; sparsity 0 is none.
func (s setting) round(mechanism string, epsilon, scale float64, sparsity int) fl.Round {
	r := fl.Round{
		ID: "bench", Mechanism: mechanism, Dim: s.Dim, Scale: scale, Epsilon: epsilon, Relation: fl.ReplaceOne,
		PublicSeed: [32]byte{1}, // replaced in every round
	}
	if sparsity > 0 {
		r.Params = fl.Params{"sparsity": fl.Int(sparsity)}
	}
	return r
}

// cohort is the number of clients of a round when each takes part in that number of rounds.
func (s setting) cohort(participations int) int { return s.Clients * participations / s.Rounds }

// steps are chosen from the noise of a round: the planned one, else that measured in the first round.
// A mean over pictures of a client has a shorter gradient than one picture. Its model is as steep.
func (s setting) steps(noise float64) plan.Steps {
	t := s.Training
	t.L2 = cmp.Or(s.pictureL2, t.L2)
	return s.server.over(t.Steps(noise))
}

// rounds is the course of a mechanism. What it promises rests on the reports of a quorum.
func (c contender) rounds(ctx context.Context, s setting, participations int, r fl.Round) (course, error) {
	least, err := s.quorum(participations)
	if err != nil {
		return course{}, err
	}
	r.MinReports = least
	out := course{participations: participations, quorum: least, scale: r.Scale, recipe: recipe{
		rounds: s.Rounds, cohort: s.cohort(participations), steps: s.steps,
		open: func(clients holders, rng *rand.Rand) (rounds, error) {
			gradients, err := clients.On(s.model, c.shrunk)
			if err != nil {
				return nil, err
			}
			return trainer.NewSimulation(trainer.SimulationConfig{
				Gradients: gradients, Cohort: s.cohort(participations), Describe: func(int) fl.Round { return r }, Encode: s.encode, Rand: rng,
			})
		},
	}}
	completed, m, err := fl.Complete(r)
	if err != nil {
		return course{}, err
	}
	if completed.Params.Has("sparsity") {
		if out.sparsity, err = completed.Params.Int("sparsity"); err != nil {
			return course{}, err
		}
	}
	out.round = completed
	spending, err := plan.NewSpending(compared(m), least, least, s.Delta)
	if err != nil {
		return course{}, err
	}
	promise, err := spending.Promise(ctx, participations)
	out.local, out.localDelta, out.central = promise.Local, promise.LocalDelta, cmp.Or(promise.Honest, promise.Central)
	return out, err
}

// onRealNumbers is a mechanism that is compared as if its code kept its guarantee.
type onRealNumbers struct {
	fl.Mechanism
	fl.Amplifier
}

func (m onRealNumbers) Guarantee() fl.Guarantee {
	g := m.Mechanism.Guarantee()
	g.RealNumbers = false
	return g
}

// compared accepts a proof that is about real numbers only. That is what a comparison of
// errors needs, and no client.
func compared(m fl.Mechanism) fl.Mechanism {
	if amplifier, ok := m.(fl.Amplifier); ok && m.Guarantee().RealNumbers {
		return onRealNumbers{m, amplifier}
	}
	return m
}

// summed is the course of sumdp: its noise depends on the number of reports only, so every
// client takes part once, in few large rounds.
func (c contender) summed(ctx context.Context, s setting) (course, error) {
	s.Rounds = max(1, s.Rounds/3)
	r := s.round(c.name, s.epsilon, s.L2, 0)
	r.Delta, r.Params = s.Delta, s.sumdp
	return c.rounds(ctx, s, 1, r)
}

// shared is the course of two servers. With Gaussian noise all clients in all rounds have the
// least noise for an ε.
func (c contender) shared(ctx context.Context, s setting) (course, error) {
	q := plan.Request{
		Mechanism: hdsum.SharesName, Dim: s.Dim, Clients: s.Clients, Rounds: s.Rounds, Budget: s.epsilon, Delta: s.Delta,
		Clip: s.L2, L1: s.L1, L2: s.L2,
	}
	if c.name == honestName {
		least, err := s.quorum(s.Rounds)
		if err != nil {
			return course{}, err
		}
		q.HonestBudget, q.Budget, q.Honest = s.epsilon, 0, honestOf*float64(least)/float64(s.Clients)
	}
	run, err := q.Run(ctx)
	if err != nil && !errors.Is(err, plan.ErrNoise) {
		return course{}, err
	}
	return c.rounds(ctx, s, s.Rounds, run.Template)
}

// trusted is the course of a server that is trusted with every gradient.
func (c contender) trusted(s setting) (course, error) {
	g, err := central.New(s.epsilon, s.Delta, s.Rounds, s.L2)
	if err != nil {
		return course{}, err
	}
	return course{
		participations: s.Rounds, quorum: s.Clients, scale: s.L2, central: &s.epsilon,
		recipe: recipe{
			rounds: s.Rounds, cohort: s.Clients, steps: s.steps,
			open: func(clients holders, rng *rand.Rand) (rounds, error) {
				return newTrusted(g, s.model, clients, s.Clients, s.dropout, rng)
			},
		},
	}, nil
}
