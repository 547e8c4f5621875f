//go:build !js

package abi

import (
	"context"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// promise is a plan.Promise in JSON. What is null is not promised.
type promise struct {
	Local          *number `json:"epsilon_local"`
	LocalTotal     *number `json:"epsilon_local_total"`
	LocalDelta     number  `json:"delta_local"`
	Central        *number `json:"epsilon_central"`
	Delta          number  `json:"delta"`
	Participations int     `json:"participations"`
}

func promiseOf(p plan.Promise) promise {
	return promise{(*number)(p.Local), (*number)(p.LocalTotal), number(p.LocalDelta), (*number)(p.Central), number(p.Delta), p.Participations}
}

// accountArgs are the arguments of account.
type accountArgs struct {
	Round          uint64 `json:"round"`
	Clients        int    `json:"clients"`
	Participations int    `json:"participations"`
	Delta          number `json:"delta"`
	Ahead          int    `json:"ahead"`
}

// maxAhead bounds the promises of one answer.
const maxAhead = 64

// account returns what rounds like this one promise a client that takes part in several of
// them, each with the reports of the given number of clients. The promises are for
// participations, and for up to ahead more: as many as can be composed. What one round costs is
// computed once for all of them.
func account(ctx context.Context, s *Session, args accountArgs, _ []byte) (any, []byte, error) {
	r, err := held[*round](s, "round", args.Round)
	if err != nil {
		return nil, nil, err
	}
	if args.Participations < 1 {
		return nil, nil, fl.Invalid("participations", args.Participations, "must be at least 1")
	}
	if args.Clients < 2 || args.Clients > fl.MaxReports {
		return nil, nil, fl.Invalid("clients", args.Clients, "must be in [2, %d]", fl.MaxReports)
	}
	if args.Ahead < 0 || args.Ahead > maxAhead {
		return nil, nil, fl.Invalid("ahead", args.Ahead, "must be in [0, %d]", maxAhead)
	}
	spending, err := plan.NewSpending(r.mechanism, args.Clients, args.Clients, float64(args.Delta))
	if err != nil {
		return nil, nil, err
	}
	var answer struct {
		Promises []promise `json:"promises"`
	}
	for k := range 1 + args.Ahead {
		p, err := spending.Promise(ctx, args.Participations+k)
		if err != nil && k == 0 {
			return nil, nil, err
		}
		if err != nil {
			break
		}
		answer.Promises = append(answer.Promises, promiseOf(p))
	}
	return answer, nil, nil
}

// planArgs are the arguments of plan: the fields of plan.Request.
type planArgs struct {
	Mechanism    string `json:"mechanism"`
	Dim          int    `json:"dim"`
	Clients      int    `json:"clients"`
	Cohort       int    `json:"cohort"`
	Rounds       int    `json:"rounds"`
	Epsilon      number `json:"epsilon"`
	MaxEpsilon   number `json:"max_epsilon"`
	Budget       number `json:"budget"`
	Delta        number `json:"delta"`
	Sparsity     int    `json:"sparsity"`
	Clip         number `json:"clip"`
	LearningRate number `json:"learning_rate"`
	L1           number `json:"l1"`
	L2           number `json:"l2"`
	Centred      bool   `json:"centred"`
}

// planAnswer is the answer of plan.
type planAnswer struct {
	// Round describes the rounds of the run. Its id is empty.
	Round      description `json:"round"`
	Clients    int         `json:"clients"`
	Cohort     int         `json:"cohort"`
	Rounds     int         `json:"rounds"`
	Affordable int         `json:"affordable"`
	// Noise is the standard error of a coordinate of one round's mean, in units of the
	// gradient; null where it was not planned.
	Noise        *number `json:"noise"`
	LearningRate number  `json:"learning_rate"`
	Momentum     number  `json:"momentum"`
	Averaging    number  `json:"averaging"`
	Promise      promise `json:"promise"`
	Explanation  string  `json:"explanation"`
}

func makePlan(ctx context.Context, _ *Session, args planArgs, _ []byte) (any, []byte, error) {
	run, err := plan.Request{
		Mechanism: args.Mechanism, Dim: args.Dim, Clients: args.Clients, Cohort: args.Cohort, Rounds: args.Rounds,
		Epsilon: float64(args.Epsilon), MaxEpsilon: float64(args.MaxEpsilon), Budget: float64(args.Budget), Delta: float64(args.Delta), Sparsity: args.Sparsity,
		Clip: float64(args.Clip), LearningRate: float64(args.LearningRate), L1: float64(args.L1), L2: float64(args.L2), Centred: args.Centred,
	}.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := run.Promise(ctx, run.Affordable)
	if err != nil {
		return nil, nil, err
	}
	var explanation strings.Builder
	if err := run.PrintStart(&explanation, true); err != nil {
		return nil, nil, err
	}
	answer := planAnswer{
		Round: describe(run.Template), Clients: run.Clients, Cohort: run.Cohort, Rounds: run.Rounds, Affordable: run.Affordable,
		LearningRate: number(run.LearningRate), Momentum: number(run.Momentum), Averaging: number(run.Averaging),
		Promise: promiseOf(p), Explanation: explanation.String(),
	}
	answer.Round.ID = ""
	if run.Schedule != nil {
		answer.Noise = (*number)(&run.Schedule.Noise)
	}
	return answer, nil, nil
}
