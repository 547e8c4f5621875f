// Package plan chooses the settings of a training run from a privacy budget: the mechanism, the ε
// of a report, how often a client takes part, the bound on a gradient's norm (the clip), and the
// learning rate. Use it before a run. Start with [Request.Run], which trains nothing.
// [Request.Compare] says what the same budget is worth if clients trust nobody, a shuffler, or two
// servers.
//
// Pass public inputs alone: sizes, budgets, and gradients of public examples. No ε covers a plan
// that was made from clients' data. [Training.Schedule] plans from sizes and norms alone. Function
// [Plans] compares the mechanisms for a given number of reports of each client. [Demand.ClientsFor]
// returns how many clients an error takes. [Spending] computes the total ε of the
// rounds in which a client takes part. docs/training.md explains the rules and lists what was
// tried.
package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/sparse"
)

// Demand is what a training run needs and may spend. All of it is public.
type Demand struct {
	// Dim and Sparsity describe the gradients, as in a Round.
	Dim, Sparsity int
	// Clients take part Participations times each, spread evenly over Rounds.
	Clients, Rounds, Participations int
	// Epsilon and Delta are the central budget of a client for the whole run
	// (replace-one). It holds against a party that sees only shuffled reports. An Epsilon of 0
	// is no such budget.
	Epsilon, Delta float64
	// EpsilonLocal is the largest ε of one report, which holds against every party. 0: only the
	// central budget limits it. One of the two must be given.
	EpsilonLocal float64
}

// Plan is a mechanism with the number of slots that has the smallest error, each with the
// largest local ε that the demand allows.
type Plan struct {
	Mechanism string `json:"mechanism"`
	// EpsilonLocal is the local ε of one report.
	EpsilonLocal float64 `json:"epsilon_local"`
	// Slots is the number of slots of the mechanism, which a round must name: the one that is
	// best for this ε may be another.
	Slots int `json:"slots"`
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
	return cmp.Or(d.sizes(), sparse.CheckShape(d.Dim, d.Sparsity))
}

// sizes checks all but the shape.
func (d Demand) sizes() error {
	switch {
	case d.Clients < 2 || d.Clients > fl.MaxReports:
		return fl.Invalid("clients", d.Clients, "must be in [2, %d]", fl.MaxReports)
	case d.Rounds < 1:
		return fl.Invalid("rounds", d.Rounds, "must be at least 1")
	case d.Participations < 1 || d.Participations > d.Rounds:
		return fl.Invalid("participations", d.Participations, "must be in [1, rounds = %d]", d.Rounds)
	case d.cohort() < 2:
		return fl.Invalid("clients", d.Clients, "must leave at least 2 reports in each of %d rounds", d.Rounds)
	case !(d.Epsilon >= 0 && d.Epsilon <= fl.MaxEpsilon):
		return fl.Invalid("epsilon", d.Epsilon, "must be in [0, %d]", fl.MaxEpsilon)
	case !(d.EpsilonLocal >= 0 && d.EpsilonLocal <= fl.MaxEpsilon):
		return fl.Invalid("epsilon local", d.EpsilonLocal, "must be in [0, %d]", fl.MaxEpsilon)
	case d.Epsilon == 0 && d.EpsilonLocal == 0:
		return fl.Invalid("epsilon", 0, "must be > 0, or the epsilon of a report must be")
	case !(d.Delta > 0 && d.Delta < 1):
		return fl.Invalid("delta", d.Delta, "must be in (0, 1)")
	}
	return nil
}

func (d Demand) cohort() int {
	return int(int64(d.Clients) * int64(d.Participations) / int64(d.Rounds))
}

// Plans returns what each mechanism can do for a demand, the most accurate first.
// Mechanisms that cannot serve the shape are left out. It ends with the error of ctx once that
// is done.
//
// Cost: with one participation some thirty evaluations of a blanket per mechanism; with more,
// four compositions of loss distributions, of 20 ms each for 60 000 clients.
func Plans(ctx context.Context, d Demand) ([]Plan, error) {
	if err := d.validate(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	var plans []Plan
	var failed error
	find := newSearch()
	for _, c := range mechanisms.Schemes() {
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
