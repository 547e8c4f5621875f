package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
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
	// Public, if not nil, is a sample of public gradients at a model of zeros, and L1 and L2 then are its norms. The plan
	// chooses the clip by it. Without a sample the clip follows from the two norms, which is a fallback: how
	// much of the gradients it cuts is not known.
	Public *Sample
	// Clip is the norm to which gradients are clipped, L1 or for privunit L2. 0: planned.
	Clip float64
	// Liars is the share of clients that lie, all alike, which the plan counts on: it weighs how far they move the mean beside the noise. 0: none.
	Liars float64
	// Converges says that the run comes near the model at which the mean gradient is zero, and that a short clip would make its
	// chances too sure. The longest clip is taken then that costs little signal.
	Converges bool
	// Warm says that the run starts from a public model that knows something.
	Warm bool
	// Centred says that the features of all examples have the same norm, or nearly, around a public
	// centre. The learning rate then is another one, see Training.Steps.
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
	// units of the gradient: what the planner makes small. With a public sample it has what ternary vectors are off clipped gradients, too.
	NoiseOfRun float64 `json:"noise_of_run"`
	// Shift is the most by which Training.Liars move the mean, an L2 norm in units of the gradient.
	Shift float64 `json:"shift"`
	// Sparsity and Scale are the shape of gradients, as in Schedule.
	Sparsity int     `json:"sparsity"`
	Scale    float64 `json:"scale"`
	// Slope is the share of the public sample's mean gradient that is left by the clip, along the mean gradient. SignalToNoise is
	// the L2 norm of what is left over the L2 norm of the noise of the mean over all rounds. Loss is the squared L2 distance
	// between the mean gradient and the best multiple of its estimate, as a share: bias and noise together. All
	// three are at the first model, and nil without a sample.
	Slope         *float64 `json:"slope"`
	SignalToNoise *float64 `json:"signal_to_noise"`
	Loss          *float64 `json:"loss"`
	shape         shape
	square        float64 // of the L2 norm of the run's error: noise, and what liars shift
}

// with fills in what the shape, the noise and liars make of the public sample.
func (a *Alternative) with(one shape, t Training) {
	a.shape, a.Sparsity, a.Scale = one, one.sparsity, one.scale
	a.NoiseOfRun = one.noise(a.Plan, t.Dim) / math.Sqrt(float64(t.Rounds))
	noise := a.NoiseOfRun*a.NoiseOfRun*float64(t.Dim) + a.Shift*a.Shift
	a.square = noise
	if one.kept == nil {
		return
	}
	ratio, loss := one.kept.ratio(noise), t.Public.loss(*one.kept, noise)
	a.Slope, a.SignalToNoise, a.Loss = t.Public.slope(*one.kept), &ratio, &loss
}

// badness is what the planner makes small: the squared error over the squared signal that is left, and without a sample the
// squared error.
func (a Alternative) badness() float64 {
	if a.Loss != nil {
		return *a.Loss / (1 - *a.Loss)
	}
	return a.square
}

// order sorts by badness. Where two are equal the first design stays first.
func order(all []Alternative) {
	slices.SortStableFunc(all, func(a, b Alternative) int { return cmp.Compare(a.badness(), b.badness()) })
}

// planned returns the names of the mechanisms that can be planned.
func planned() (names []string) {
	for _, c := range designs() {
		names = append(names, c.Name())
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
	case !(t.Liars >= 0 && t.Liars < 0.5):
		return fl.Invalid("liars", t.Liars, "must be in [0, 0.5)")
	case t.Sparsity < 0 || t.Sparsity > t.Dim:
		return fl.Invalid("sparsity", t.Sparsity, "must be in [0, dim = %d]", t.Dim)
	case t.Mechanism != "" && !slices.Contains(planned(), t.Mechanism):
		return fl.Invalid("mechanism", t.Mechanism, "must be one that can be planned: %s", strings.Join(planned(), ", "))
	case t.Epsilon == 0 && t.EpsilonLocal == 0:
		return fl.Invalid("epsilon", 0, "must be > 0, or the epsilon of a report must be")
	case !(t.Clip >= 0 && t.Clip <= largestNorm):
		return fl.Invalid("clip", t.Clip, "must be in [0, %g]", largestNorm)
	case t.Public != nil && len(t.Public.mean) != t.Dim:
		return fl.Invalid("public", len(t.Public.mean), "must be gradients of dim = %d coordinates", t.Dim)
	case !(t.L1 >= leastNorm && t.L1 <= largestNorm):
		return fl.Invalid("l1", t.L1, "must be in [%g, %g]", leastNorm, largestNorm)
	case !(t.L2 > 0 && t.L2 <= t.L1):
		return fl.Invalid("l2", t.L2, "must be in (0, l1 = %g]", t.L1)
	}
	return nil
}

// peakShare is where coordinates are clipped, as a share of their typical size L2²/L1.
// Smaller ones lose more of the large coordinates, larger ones have more noise. Found like
// the constants of the steps.
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
	if t.Public != nil {
		t.L1, t.L2 = t.Public.Norms()
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	asked := Demand{
		Dim: t.Dim, Clients: t.Clients, Rounds: t.Rounds,
		Epsilon: t.Epsilon, Delta: t.Delta, EpsilonLocal: t.EpsilonLocal,
	}
	ways, err := t.ways(asked)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	mechanisms := t.mechanisms()
	considered := make([]Alternative, len(ways)*len(mechanisms))
	feasible := make([]error, len(considered))
	find := newSearch()
	if t.Progress != nil {
		t.Progress.Grow(len(considered))
	}
	var group errgroup.Group
	for i, d := range ways {
		for j, c := range mechanisms {
			at := i*len(mechanisms) + j
			group.Go(func() error {
				considered[at], feasible[at] = t.alternative(ctx, find, c, d)
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
	order(kept)
	best := kept[0]
	chosen := mechanisms[slices.IndexFunc(mechanisms, func(c design) bool { return c.Name() == best.Mechanism })]
	noise := best.NoiseOfRun * math.Sqrt(float64(t.Rounds))
	out := &Schedule{
		Plan: best.Plan, Rounds: t.Rounds, Participations: best.Participations, Sparsity: best.Sparsity, Scale: best.Scale,
		Noise: noise, Considered: kept, rule: stepsFor(t.Centred),
	}
	length := best.shape.length(chosen)
	out.Steps = out.rule.clipped(length/t.L2).steps(noise, t.L2, t.Rounds)
	if t.Warm {
		votes := best.NoiseOfRun / length
		out.Steps = out.rule.warm(votes).clipped(length/t.L2).steps(noise, t.L2, t.Rounds)
	}
	d := asked
	d.Participations, d.Sparsity = best.Participations, best.Sparsity
	p := d.point()
	p.Slots, p.Epsilon = best.Slots, best.EpsilonLocal
	out.Params = chosen.Params(p)
	if t.Epsilon > 0 {
		if err := out.compare(ctx, find, chosen, d); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	return out, nil
}

// ways are the demands of clients that take part once, sometimes and in every round. Where there are few clients some of
// them leave too few for a round.
func (t Training) ways(d Demand) (out []Demand, err error) {
	var ways []int
	for _, k := range []int{t.Rounds, int(math.Sqrt(float64(t.Rounds))), 1} {
		if k = cmp.Or(t.Participations, k); !slices.Contains(ways, k) {
			ways = append(ways, k)
		}
	}
	for _, k := range ways {
		d.Participations = k
		if d.cohort() < 2 && len(out) > 0 {
			continue
		}
		if err := d.sizes(); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// mechanisms are those that are compared.
func (t Training) mechanisms() (out []design) {
	for _, c := range designs() {
		if _, whole := c.(ranked); t.Mechanism == c.Name() || t.Mechanism == "" && !(whole && (t.Sparsity > 0 || t.Clip > 0)) {
			out = append(out, c)
		}
	}
	return out
}

// alternative is the best plan of one mechanism for one way to take part.
func (t Training) alternative(ctx context.Context, f *search, c design, d Demand) (Alternative, error) {
	one, err := t.best(c, d)
	if err != nil {
		return Alternative{}, err
	}
	d.Sparsity = one.sparsity
	p, err := f.plan(ctx, c, d)
	if err != nil {
		return Alternative{}, err
	}
	a := Alternative{Plan: p, Participations: d.Participations}
	at := d.point()
	at.Slots, at.Epsilon = p.Slots, p.EpsilonLocal
	a.Shift, err = t.shift(c, at, one.scale)
	a.with(one, t)
	return a, err
}
