package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/privacy/compose"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

// Demand is what a training run needs and may spend. All of it is public.
type Demand struct {
	// Dim and Sparsity are those of the gradients, as in a Round.
	Dim, Sparsity int
	// Clients take part Participations times each, spread evenly over Rounds.
	Clients, Rounds, Participations int
	// Epsilon and Delta are the central budget of a client for the whole run
	// (replace-one), against those who see shuffled reports only.
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

// candidate is a mechanism as the planner sees it.
type candidate struct {
	name  string
	slots func(sparse.Point) (int, error)
	mse   func(sparse.Point) (float64, error)
	// blanket returns the bound of shuffled reports.
	blanket func(sparse.Point) (*privacy.Blanket, error)
}

func slotted(p sparse.Point) (*privacy.Blanket, error) {
	return privacy.NewBlanket(p.Epsilon, p.Sparsity, p.Slots)
}

var candidates = []candidate{
	{coco.Name, coco.BestSlots, coco.MSE, slotted},
	{collision.Name, collision.BestSlots, collision.MSE, slotted},
	{
		signsketch.Name,
		func(sparse.Point) (int, error) { return 2, nil },
		func(p sparse.Point) (float64, error) { return signsketch.MSE(p.Dim, p.Sparsity, p.Epsilon) },
		func(p sparse.Point) (*privacy.Blanket, error) { return privacy.NewBlanket(p.Epsilon, 1, 2) },
	},
}

// Plans returns what each mechanism can do for a demand, the most accurate first.
// Mechanisms that cannot serve the shape are left out.
//
// Cost: with one participation some twenty evaluations of a blanket per mechanism;
// with more, a dozen compositions of loss distributions, about a second each.
func Plans(d Demand) ([]Plan, error) {
	if err := d.validate(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	var plans []Plan
	var failed error
	for _, c := range candidates {
		p, err := c.plan(d)
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

func (c candidate) plan(d Demand) (Plan, error) {
	local, err := c.localFor(d)
	if err != nil {
		return Plan{}, err
	}
	return c.planAt(d, local)
}

// planAt is the plan with a given local ε, whatever the demand's central one.
func (c candidate) planAt(d Demand, local float64) (Plan, error) {
	p, blanket, err := c.at(d, local)
	if err != nil {
		return Plan{}, err
	}
	mse, err := c.mse(p)
	if err != nil {
		return Plan{}, err
	}
	central, err := composedCentral(blanket, p.Epsilon, d, d.options(1))
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Mechanism: c.name, EpsilonLocal: local, Slots: p.Slots, Cohort: d.cohort(), EpsilonCentral: central,
		Error: math.Sqrt(mse / float64(d.Dim) / float64(d.cohort())),
	}, nil
}

// at returns the mechanism's best parameters at a local ε.
func (c candidate) at(d Demand, local float64) (sparse.Point, *privacy.Blanket, error) {
	p := sparse.Point{Dim: d.Dim, Sparsity: d.Sparsity, Epsilon: local, Hash: slothash.Families()[0]}
	var err error
	if p.Slots, err = c.slots(p); err != nil {
		return p, nil, err
	}
	blanket, err := c.blanket(p)
	return p, blanket, err
}

// localFor returns the largest local ε whose composed central ε is within the
// demand, rounded down.
func (c candidate) localFor(d Demand) (float64, error) {
	if d.Participations == 1 {
		return privacy.LocalFor(func(epsilon float64) (privacy.Amplification, error) {
			_, blanket, err := c.at(d, epsilon)
			return blanket, err
		}, d.cohort(), d.Delta, d.Epsilon)
	}
	// The logarithm of the ratio of central ε and budget, which grows with that of the
	// local ε. What is tried lies in [lo, hi] of that logarithm.
	excess := func(x float64) (float64, error) {
		_, blanket, err := c.at(d, math.Exp(x))
		if err != nil {
			return 0, err
		}
		central, err := composedCentral(blanket, math.Exp(x), d, d.options(4))
		return math.Log(central / d.Epsilon), err
	}
	// Without shuffling k reports of ε/k are within ε: that always holds.
	hi := math.Log(fl.MaxEpsilon)
	lo := min(hi, math.Log(d.Epsilon/float64(d.Participations)))
	atLo, atHi := math.Inf(-1), math.Inf(1)
	// k reports of local ε at first cost about √k times one: try that one, then go by
	// the chord.
	once := d
	once.Participations, once.Epsilon = 1, d.Epsilon/math.Sqrt(float64(d.Participations))
	x, err := c.localFor(once)
	if err != nil {
		return 0, err
	}
	// Newton's steps along the last chord, half a tolerance further than the root so that
	// the bracket closes from both sides.
	steepness := steepnessAtFirst
	for x = min(max(math.Log(x), lo), hi); hi-lo > localTolerance; {
		at, err := excess(x)
		if err != nil {
			return 0, err
		}
		if at > 0 {
			hi, atHi = x, at
		} else {
			lo, atLo = x, at
		}
		if !math.IsInf(atLo, -1) && !math.IsInf(atHi, 1) {
			steepness = (atHi - atLo) / (hi - lo)
		}
		step := -at / steepness
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
func composedCentral(b *privacy.Blanket, local float64, d Demand, options compose.Options) (float64, error) {
	if d.Participations == 1 {
		return b.Epsilon(d.cohort(), d.Delta)
	}
	basic := float64(d.Participations) * local
	one, err := compose.FromCurve(func(epsilon float64) (float64, error) { return b.Delta(d.cohort(), epsilon) }, local, options)
	if err != nil {
		return 0, err
	}
	all, err := one.Compose(d.Participations)
	if err != nil {
		return 0, err
	}
	bounds, err := all.Epsilon(d.Delta)
	return min(basic, bounds.Upper), err
}

// ClientsFor returns the smallest number of clients, within 1 %, with which some
// mechanism has at most the given error (root mean squared per coordinate, ternary
// units) under the rest of the demand. The error wraps ErrInfeasible if
// fl.MaxReports are not enough.
//
// Cost: that of a few dozen Plans.
func (d Demand) ClientsFor(maxError float64) (int, error) {
	if !(maxError > 0) || math.IsInf(maxError, 1) {
		return 0, fmt.Errorf("plan: %w", fl.Invalid("error", maxError, "must be finite and > 0"))
	}
	enough := func(clients int) (bool, error) {
		d := d
		d.Clients = clients
		plans, err := Plans(d)
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
