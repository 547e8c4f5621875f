package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// Training is what a federated training run needs and may spend. All of it is public.
type Training struct {
	Dim     int // of a gradient
	Clients int
	Rounds  int // at most
	// Epsilon and Delta are the central budget of a client for the whole run
	// (replace-one). It holds against a party that sees only shuffled reports. 0: no
	// such budget.
	Epsilon, Delta float64
	// EpsilonLocal is the largest ε of one report. It holds against every party. 0: only
	// the central budget limits it. One of the two must be given.
	EpsilonLocal float64
	// Participations is how often a client takes part, and Mechanism and Sparsity are
	// the rounds'; 0 and "" leave them to the planner.
	Participations int
	Mechanism      string
	Sparsity       int
	// L1 and L2 are a guess of the norms of a client's gradient at the first model,
	// from public data.
	L1, L2 float64
	// Centred says that the features of all examples have the same norm, or nearly, around a public
	// centre. The learning rate then is NewCentredSteps's.
	Centred bool
	// Progress, if not nil, learns how many alternatives are compared, and when one is done.
	Progress Progress
}

// Progress shows how far a computation is. It is safe for concurrent use.
type Progress interface {
	Grow(n int) // announces n more steps
	Step()      // counts one
}

// Schedule says how to train: what the rounds are and what the server does with their
// means.
type Schedule struct {
	Plan
	Rounds         int `json:"rounds"`
	Participations int `json:"participations"`
	Sparsity       int `json:"sparsity"`
	// Scale is τ; a client's gradient is clipped to the L1 norm τ·s.
	Scale float64 `json:"scale"`
	// Noise is the standard error of a coordinate of one round's mean, in units of the
	// gradient.
	Noise float64 `json:"noise"`
	Steps Steps   `json:"steps"`
	// Considered are the ways to take part that were compared, the chosen one first.
	Considered []Alternative `json:"considered"`
	// FewerSlots is the best plan of the mechanisms whose number of slots is the one that is best
	// for its local ε. That ε is smaller and the error larger. nil where it is this plan.
	FewerSlots *Plan `json:"fewer_slots"`
	// NoiseOfFour is about the NoiseOfRun that four reports of a client in place of each would
	// have: as many as four times the rounds. It follows from weights. 0 where nothing limits the
	// central ε.
	NoiseOfFour float64 `json:"noise_of_four_reports"`
	// Params are the parameters of the rounds.
	Params fl.Params `json:"-"`
	rule   stepRule
}

// Alternative is a way to spread a client's reports over the rounds.
type Alternative struct {
	Plan
	Participations int `json:"participations"`
	// NoiseOfRun is the standard error of a coordinate of the mean over all rounds, in
	// units of the gradient: what the planner makes small.
	NoiseOfRun float64 `json:"noise_of_run"`
}

// planned returns the names of the mechanisms that can be planned.
func planned() (names []string) {
	for _, s := range auto.Schemes() {
		names = append(names, s.Name())
	}
	return names
}

func (t Training) validate() error {
	switch {
	case t.Dim < 1:
		return fl.Invalid("dim", t.Dim, "must be at least 1")
	case t.Rounds < 1:
		return fl.Invalid("rounds", t.Rounds, "must be at least 1")
	case t.Participations < 0 || t.Participations > t.Rounds:
		return fl.Invalid("participations", t.Participations, "must be in [0, rounds = %d]", t.Rounds)
	case !(t.EpsilonLocal >= 0 && t.EpsilonLocal <= fl.MaxEpsilon):
		return fl.Invalid("epsilon local", t.EpsilonLocal, "must be in [0, %d]", fl.MaxEpsilon)
	case t.Sparsity < 0 || t.Sparsity > t.Dim:
		return fl.Invalid("sparsity", t.Sparsity, "must be in [0, dim = %d]", t.Dim)
	case t.Mechanism != "" && !slices.Contains(planned(), t.Mechanism):
		return fl.Invalid("mechanism", t.Mechanism, "must be one that can be planned: %s", strings.Join(planned(), ", "))
	case t.Epsilon == 0 && t.EpsilonLocal == 0:
		return fl.Invalid("epsilon", 0, "must be > 0, or the epsilon of a report must be")
	case !(t.L1 >= leastNorm && t.L1 <= largestNorm):
		return fl.Invalid("l1", t.L1, "must be in [%g, %g]", leastNorm, largestNorm)
	case !(t.L2 > 0 && t.L2 <= t.L1):
		return fl.Invalid("l2", t.L2, "must be in (0, l1 = %g]", t.L1)
	}
	return nil
}

// peakShare is where coordinates are clipped, as a share of their typical size L2²/L1.
// Smaller ones lose more of the large coordinates, larger ones have more noise. Found like
// the constants of NewSteps.
const peakShare = 0.35

// Shape returns s and τ. (L1/L2)² is the number of coordinates that matter; τ is
// somewhat below their size.
func (t Training) Shape() (s int, scale float64) {
	matter := t.L1 / t.L2 * (t.L1 / t.L2)
	s = cmp.Or(t.Sparsity, int(math.Ceil(min(matter/peakShare, float64(t.Dim)))))
	s = min(s, t.Dim)
	return s, t.L1 / float64(s)
}

// Schedule plans a run. It compares clients that take part once, sometimes and in every
// round. The same total budget buys many reports with a small ε or few with a large one.
// Composed accounting decides which has the smaller error. It ends with the error of ctx once
// that is done.
//
// Cost: some tenths of a second with a central budget, spread over the cores (go run ./bench speed);
// else one composition.
func (t Training) Schedule(ctx context.Context) (*Schedule, error) {
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	s, scale := t.Shape()
	d := Demand{
		Dim: t.Dim, Sparsity: s, Clients: t.Clients, Rounds: t.Rounds, Participations: t.Rounds,
		Epsilon: t.Epsilon, Delta: t.Delta, EpsilonLocal: t.EpsilonLocal,
	}
	var ways []int
	for _, k := range []int{t.Rounds, int(math.Sqrt(float64(t.Rounds))), 1} {
		if k = cmp.Or(t.Participations, k); !slices.Contains(ways, k) {
			ways = append(ways, k)
		}
	}
	var mechanisms []*sparse.Scheme
	for _, c := range auto.Schemes() {
		if t.Mechanism == "" || t.Mechanism == c.Name() {
			mechanisms = append(mechanisms, c)
		}
	}
	considered := make([]Alternative, len(ways)*len(mechanisms))
	feasible := make([]error, len(considered))
	find := newSearch()
	if t.Progress != nil {
		t.Progress.Grow(len(considered))
	}
	var group errgroup.Group
	for i, k := range ways {
		d := d
		d.Participations = k
		if err := d.validate(); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		for j, c := range mechanisms {
			at := i*len(mechanisms) + j
			group.Go(func() error {
				p, err := find.plan(ctx, c, d)
				considered[at] = Alternative{Plan: p, Participations: k, NoiseOfRun: p.Error * scale / math.Sqrt(float64(t.Rounds))}
				feasible[at] = err
				if t.Progress != nil {
					t.Progress.Step()
				}
				return nil
			})
		}
	}
	_ = group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	kept := considered[:0]
	for i, a := range considered {
		if feasible[i] == nil {
			kept = append(kept, a)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("plan: %w", feasible[0])
	}
	slices.SortStableFunc(kept, func(a, b Alternative) int { return cmp.Compare(a.NoiseOfRun, b.NoiseOfRun) })
	best := kept[0]
	noise := best.Error * scale
	out := &Schedule{
		Plan: best.Plan, Rounds: t.Rounds, Participations: best.Participations, Sparsity: s, Scale: scale,
		Noise: noise, Steps: t.Steps(noise), Considered: kept,
		rule: stepsFor(t.Centred),
	}
	d.Participations = best.Participations
	chosen := mechanisms[slices.IndexFunc(mechanisms, func(c *sparse.Scheme) bool { return c.Name() == best.Mechanism })]
	p := d.point()
	p.Slots = best.Slots
	out.Params = chosen.Params(p)
	if t.Epsilon > 0 {
		if err := out.compare(ctx, find, mechanisms, chosen, d); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	return out, nil
}
