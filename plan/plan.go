// Package plan turns a privacy budget into a training run: mechanism, ε of a report, how often a
// client takes part, clip and learning rate. Use it before a run. Start with [Training.Schedule].
//
// All of its inputs are public: sizes, budgets and a guess of the norms of gradients. [Plans]
// compares the mechanisms for one way to take part, and [Demand.ClientsFor] returns the number of
// clients that an error takes. [Spending] composes what the rounds cost a client.
// docs/training.md explains the rules and lists what was tried.
package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/privacy/compose"
	"github.com/hushgrad/hushgrad/sparse"
)

// Demand is what a training run needs and may spend. All of it is public.
type Demand struct {
	// Dim and Sparsity are those of the gradients, as in a Round.
	Dim, Sparsity int
	// Clients take part Participations times each, spread evenly over Rounds.
	Clients, Rounds, Participations int
	// Epsilon and Delta are the central budget of a client for the whole run
	// (replace-one). It holds against a party that sees only shuffled reports.
	Epsilon, Delta float64
}

// Plan is a mechanism with the largest local ε that the demand allows.
type Plan struct {
	Mechanism string `json:"mechanism"`
	// EpsilonLocal is the local ε of one report.
	EpsilonLocal float64 `json:"epsilon_local"`
	Slots        int     `json:"slots"`
	// Cohort is the number of reports of a round.
	Cohort int `json:"cohort"`
	// EpsilonCentral is the central ε of all of a client's reports, at most the one
	// demanded.
	EpsilonCentral float64 `json:"epsilon_central"`
	// Error is the exact root mean squared error of a coordinate of one round's
	// mean, in ternary units: multiply by τ.
	Error float64 `json:"error"`
}

// ErrInfeasible is returned when no number of clients up to fl.MaxReports meets a
// demand.
var ErrInfeasible = errors.New("not feasible")

func (d Demand) validate() error {
	switch {
	case d.Clients < 2 || d.Clients > fl.MaxReports:
		return fl.Invalid("clients", d.Clients, "must be in [2, %d]", fl.MaxReports)
	case d.Rounds < 1:
		return fl.Invalid("rounds", d.Rounds, "must be at least 1")
	case d.Participations < 1 || d.Participations > d.Rounds:
		return fl.Invalid("participations", d.Participations, "must be in [1, rounds = %d]", d.Rounds)
	case d.cohort() < 2:
		return fl.Invalid("clients", d.Clients, "must leave at least 2 reports in each of %d rounds", d.Rounds)
	case !(d.Epsilon > 0 && d.Epsilon <= fl.MaxEpsilon):
		return fl.Invalid("epsilon", d.Epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case !(d.Delta > 0 && d.Delta < 1):
		return fl.Invalid("delta", d.Delta, "must be in (0, 1)")
	}
	return sparse.CheckShape(d.Dim, d.Sparsity)
}

func (d Demand) cohort() int {
	return int(int64(d.Clients) * int64(d.Participations) / int64(d.Rounds))
}

// Plans returns what each mechanism can do for a demand, the most accurate first.
// Mechanisms that cannot serve the shape are left out. It ends with the error of ctx once that
// is done.
//
// Cost: with one participation some twenty evaluations of a blanket per mechanism;
// with more, a dozen compositions of loss distributions, about a second each.
func Plans(ctx context.Context, d Demand) ([]Plan, error) {
	if err := d.validate(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	var plans []Plan
	var failed error
	find := newSearch()
	for _, c := range auto.Schemes() {
		p, err := find.plan(ctx, c, d)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("plan: %w", ctx.Err())
		}
		if err != nil {
			failed = err
			continue
		}
		plans = append(plans, p)
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("plan: %w", failed)
	}
	slices.SortStableFunc(plans, func(a, b Plan) int { return cmp.Compare(a.Error, b.Error) })
	return plans, nil
}

func (f *search) plan(ctx context.Context, c *sparse.Scheme, d Demand) (Plan, error) {
	local, err := f.localFor(ctx, c, d)
	if err != nil {
		return Plan{}, err
	}
	return f.planAt(ctx, c, d, local)
}

// planAt is the plan with a given local ε, whatever the demand's central one.
func (f *search) planAt(ctx context.Context, c *sparse.Scheme, d Demand, local float64) (Plan, error) {
	p, blanket, err := at(c, d, local)
	if err != nil {
		return Plan{}, err
	}
	mse, err := c.MSE(p)
	if err != nil {
		return Plan{}, err
	}
	central, err := f.central(ctx, c, p, blanket, d, d.options(1))
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Mechanism: c.Name(), EpsilonLocal: local, Slots: p.Slots, Cohort: d.cohort(), EpsilonCentral: central,
		Error: math.Sqrt(mse / float64(d.Dim) / float64(d.cohort())),
	}, nil
}

// at returns the mechanism's best parameters at a local ε.
func at(c *sparse.Scheme, d Demand, local float64) (sparse.Point, *privacy.Blanket, error) {
	p := sparse.Point{Dim: d.Dim, Sparsity: d.Sparsity, Epsilon: local, Hash: sparse.HashGF2}
	var err error
	if p.Slots, err = c.BestSlots(p); err != nil {
		return p, nil, err
	}
	blanket, err := c.Blanket(p)
	return p, blanket, err
}

// localFor returns the largest local ε whose composed central ε is within the
// demand, rounded down.
func (f *search) localFor(ctx context.Context, c *sparse.Scheme, d Demand) (float64, error) {
	if d.Participations == 1 {
		return privacy.LocalFor(ctx, func(epsilon float64) (fl.Amplification, error) {
			_, blanket, err := at(c, d, epsilon)
			return blanket, err
		}, d.cohort(), d.Delta, d.Epsilon)
	}
	// The logarithm of the ratio of central ε and budget, which grows with that of the
	// local ε. What is tried lies in [lo, hi] of that logarithm.
	excess := func(x float64) (float64, error) {
		p, blanket, err := at(c, d, math.Exp(x))
		if err != nil {
			return 0, err
		}
		central, err := f.central(ctx, c, p, blanket, d, d.options(4))
		return math.Log(central / d.Epsilon), err
	}
	// Without shuffling k reports of ε/k are within ε: that always holds.
	hi := math.Log(fl.MaxEpsilon)
	lo := min(hi, math.Log(d.Epsilon/float64(d.Participations)))
	atLo, atHi := math.Inf(-1), math.Inf(1)
	// k reports of local ε at first cost about √k times one: try that one, then go by
	// the chord.
	once, x := d, 0.
	once.Participations, once.Epsilon = 1, d.Epsilon/math.Sqrt(float64(d.Participations))
	if once.cohort() >= 2 {
		var err error
		if x, err = f.localFor(ctx, c, once); err != nil {
			return 0, err
		}
	}
	// Newton's steps along the last chord, half a tolerance further than the root so that
	// the bracket closes from both sides.
	steepness := steepnessAtFirst
	for x = min(max(math.Log(x), lo), hi); hi-lo > localTolerance; {
		over, err := excess(x)
		if err != nil {
			return 0, err
		}
		if over > 0 {
			hi, atHi = x, over
		} else {
			lo, atLo = x, over
		}
		if !math.IsInf(atLo, -1) && !math.IsInf(atHi, 1) {
			steepness = (atHi - atLo) / (hi - lo)
		}
		step := -over / steepness
		x += step + math.Copysign(localTolerance/2, step)
		if !(x > lo && x < hi) {
			x = lo + (hi-lo)/2
		}
	}
	return math.Exp(lo), nil
}

const (
	// localTolerance is the width of log ε at which the search for it ends.
	localTolerance = 0.005
	// steepnessAtFirst is that of the central ε as a power of the local one, as the
	// search for it guesses before it knows better.
	steepnessAtFirst = 3.
)

// options are a coarser grid of losses than the default, coarse times the finest: its
// error is on the safe side and small beside the tolerance. The mass of large losses that
// count as infinite is at most a thousandth of δ in all.
func (d Demand) options(coarse float64) compose.Options {
	k := float64(d.Participations)
	return compose.Options{
		Step: min(1./512, d.Epsilon/(40*math.Sqrt(k))) * coarse,
		Tail: d.Delta / (1000 * k),
	}
}

// composedCentral is the central ε of all participations of a client.
func composedCentral(ctx context.Context, b *privacy.Blanket, local float64, d Demand, options compose.Options) (float64, error) {
	if d.Participations == 1 {
		return b.Epsilon(d.cohort(), d.Delta)
	}
	basic := float64(d.Participations) * local
	coarse := b.Coarse()
	one, err := compose.FromCurve(ctx, func(epsilon float64) (float64, error) { return coarse.Delta(d.cohort(), epsilon) }, local, options)
	if err != nil {
		return 0, err
	}
	all, err := one.Compose(d.Participations)
	if err != nil {
		return 0, err
	}
	bounds, err := all.Epsilon(ctx, d.Delta)
	return min(basic, bounds.Upper), err
}

// ClientsFor returns the smallest number of clients, within 1 %, with which some
// mechanism has at most the given error (root mean squared per coordinate, ternary
// units) under the rest of the demand. The error wraps ErrInfeasible if
// fl.MaxReports are not enough. ClientsFor ends with the error of ctx once that is done.
//
// Cost: that of a few dozen Plans.
func (d Demand) ClientsFor(ctx context.Context, maxError float64) (int, error) {
	if !(maxError > 0) || math.IsInf(maxError, 1) {
		return 0, fmt.Errorf("plan: %w", fl.Invalid("error", maxError, "must be finite and > 0"))
	}
	enough := func(clients int) (bool, error) {
		d := d
		d.Clients = clients
		plans, err := Plans(ctx, d)
		return err == nil && plans[0].Error <= maxError, err
	}
	least := 2 * (d.Rounds + d.Participations - 1) / max(1, d.Participations)
	below, n := 0, max(2, least)
	for {
		ok, err := enough(n)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if n == fl.MaxReports {
			return 0, fmt.Errorf("plan: %w: an error of %g takes more than %d clients", ErrInfeasible, maxError, fl.MaxReports)
		}
		below, n = n, min(2*n, fl.MaxReports)
	}
	for n-below > max(1, n/100) {
		mid := below + (n-below)/2
		ok, err := enough(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			n = mid
		} else {
			below = mid
		}
	}
	return n, nil
}
