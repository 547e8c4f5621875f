//go:build !js

package abi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// promise is a plan.Promise in JSON. What is null is not promised.
type promise struct {
	Local          *number   `json:"epsilon_local"`
	LocalTotal     *number   `json:"epsilon_local_total"`
	LocalDelta     number    `json:"delta_local"`
	Central        *number   `json:"epsilon_central"`
	Honest         *number   `json:"epsilon_if_honest"`
	HonestReports  int       `json:"honest_reports"`
	Delta          number    `json:"delta"`
	Participations int       `json:"participations"`
	Unit           plan.Unit `json:"unit"`
}

func promiseOf(p plan.Promise) promise {
	return promise{(*number)(p.Local), (*number)(p.LocalTotal), number(p.LocalDelta), (*number)(p.Central), (*number)(p.Honest), p.HonestReports, number(p.Delta), p.Participations, p.Unit}
}

// accountArgs are the arguments of account.
type accountArgs struct {
	Round          uint64 `json:"round"`
	Clients        int    `json:"clients"`
	Participations int    `json:"participations"`
	Delta          number `json:"delta"`
	Ahead          int    `json:"ahead"`
}

func (a accountArgs) object() (string, uint64) { return "round", a.Round }

// maxAhead bounds the promises of one answer.
const maxAhead = 64

// account returns what rounds like this one promise a client that takes part in several of
// them, each with the reports of the given number of clients. The promises are for
// participations, and for up to ahead more: as many as can be composed. What one round costs is
// computed once for all of them.
func account(ctx context.Context, _ *Session, r *round, args accountArgs, _ []byte) (any, []byte, error) {
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
		if p.Unit = plan.Client; r.AboutRecords() {
			p.Unit = plan.Record
		}
		answer.Promises = append(answer.Promises, promiseOf(p))
	}
	return answer, nil, nil
}

// planArgs are the arguments of plan and compare: the fields of plan.Request. Public is the number of public gradients, whose numbers
// of the given Type are the payload. With Labels they are public examples instead, with so many Features each.
type planArgs struct {
	Mechanism    string `json:"mechanism"`
	Trust        string `json:"trust"`
	Dim          int    `json:"dim"`
	Clients      int    `json:"clients"`
	Records      int    `json:"records"`
	Proof        string `json:"proof"`
	OwnBudget    number `json:"own_budget"`
	HonestBudget number `json:"honest_budget"`
	Honest       number `json:"honest"`
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
	Public       int    `json:"public"`
	Type         string `json:"type"`
	Labels       []int  `json:"labels"`
	Features     int    `json:"features"`
	PerClient    int    `json:"per_client"`
	ZeroShot     number `json:"zero_shot"`
	Force        bool   `json:"force"`
	Centred      bool   `json:"centred"`
	Network      bool   `json:"network"`
}

// Limits of a sample of public gradients: what a payload of 64-bit numbers holds, and more of them than any plan looks at.
const (
	maxPublic       = 1 << 16
	maxPublicValues = MaxPayload / 8
)

// rows returns the rows of a payload: public gradients, or the features of public examples. It returns nil where none are given. Sizes
// are checked before anything is allocated.
func (a planArgs) rows(payload []byte) ([][]float64, error) {
	if a.Public == 0 {
		if len(payload) > 0 || len(a.Labels) > 0 {
			return nil, fl.Invalid("public", fmt.Sprintf("%d bytes and %d labels", len(payload), len(a.Labels)), "must be the number of gradients or examples in them")
		}
		return nil, nil
	}
	what, length := "gradients of dim", a.Dim
	if len(a.Labels) > 0 {
		what, length = "examples of features", a.Features
	}
	width, err := widthOf(a.Type)
	switch {
	case err != nil:
		return nil, err
	case a.Public < 2 || a.Public > maxPublic:
		return nil, fl.Invalid("public", a.Public, "must be in [2, %d] gradients or examples, or 0 for none", maxPublic)
	case length < 1 || length > maxPublicValues/a.Public:
		return nil, fl.Invalid("public", a.Public, "must be %s from 1 to %d, so that they have at most %d numbers together, and got %d", what, maxPublicValues/a.Public, maxPublicValues, length)
	case len(payload) != a.Public*length*width:
		return nil, fl.Invalid("public", fmt.Sprintf("%d bytes", len(payload)), "must have %d: %s = %d times %d bytes", a.Public*length*width, what, length, width)
	}
	var narrow []float32
	var values []float64
	if width == 4 {
		values = widened(numbersOf(payload, &narrow), &values)
	} else {
		values = numbersOf(payload, &values)
	}
	return slices.Collect(slices.Chunk(values, length)), nil
}

// request returns the request that the arguments make.
func (a planArgs) request(payload []byte) (q plan.Request, err error) {
	q = plan.Request{
		Mechanism: a.Mechanism, Trust: plan.Trust(a.Trust), Dim: a.Dim, Clients: a.Clients, Records: a.Records, Proof: a.Proof, OwnBudget: float64(a.OwnBudget),
		HonestBudget: float64(a.HonestBudget), Honest: float64(a.Honest), Cohort: a.Cohort, Rounds: a.Rounds,
		Epsilon: float64(a.Epsilon), MaxEpsilon: float64(a.MaxEpsilon), Budget: float64(a.Budget), Delta: float64(a.Delta), Sparsity: a.Sparsity,
		Clip: float64(a.Clip), LearningRate: float64(a.LearningRate), L1: float64(a.L1), L2: float64(a.L2), Centred: a.Centred,
		PerClient: a.PerClient, ZeroShot: float64(a.ZeroShot), Force: a.Force,
	}
	rows, err := a.rows(payload)
	if err != nil {
		return q, err
	}
	if a.Network && (rows == nil || len(a.Labels) > 0 || a.ZeroShot > 0) {
		return q, fl.Invalid("network", a.Network, "must come with public gradients of it, without labels and without zero_shot: rehearsals are of softmax regression")
	}
	if rows == nil {
		return q, nil
	}
	switch {
	case a.Network:
		err = q.FillNetwork(rows)
	case len(a.Labels) == 0:
		q.Public, err = plan.NewSample(rows)
	default:
		if err = a.examples(&q, rows); err == nil {
			q.Public, err = q.Examples.Sample()
		}
	}
	if wrong := (*fl.ParamError)(nil); errors.As(err, &wrong) && wrong.Param != "labels" && wrong.Param != "zero shot" {
		err = fl.Invalid("public", wrong.Got, "%s", wrong.Rule)
	}
	if err == nil {
		q.L1, q.L2 = q.Public.Norms()
	}
	return q, err
}

// examples gives a request public examples, in an order by chance: their last ones measure, and callers may have sorted them by class.
func (a planArgs) examples(q *plan.Request, rows [][]float64) (err error) {
	if len(a.Labels) != len(rows) {
		return fl.Invalid("labels", len(a.Labels), "must be one for each of the %d examples", len(rows))
	}
	if q.ZeroShot > 0 {
		return fl.Invalid("zero shot", q.ZeroShot, "must not be given with examples: their model begins at zeros")
	}
	labels := slices.Clone(a.Labels)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(rows), func(i, j int) {
		rows[i], rows[j], labels[i], labels[j] = rows[j], rows[i], labels[j], labels[i]
	})
	if q.Examples, err = plan.NewExamples(rows, labels, 1+slices.Max(labels)); err == nil && q.Dim == 0 {
		q.Dim = q.Examples.Dim()
	}
	return err
}

// planAnswer is the answer of plan.
type planAnswer struct {
	// Round describes the rounds of the run. Its id is empty.
	Round      description `json:"round"`
	Trust      plan.Trust  `json:"trust"`
	Budget     number      `json:"budget"` // 0: none
	Clients    int         `json:"clients"`
	Records    int         `json:"records"` // whose sums are sent; 0: none
	Cohort     int         `json:"cohort"`
	Rounds     int         `json:"rounds"`
	Affordable int         `json:"affordable"`
	// L1 and L2 are the norms of a gradient that the plan rests on.
	L1 number `json:"l1"`
	L2 number `json:"l2"`
	// Noise is the standard error of a coordinate of one round's mean, in units of the
	// gradient; null where it was not planned.
	Noise        *number `json:"noise"`
	LearningRate number  `json:"learning_rate"`
	Momentum     number  `json:"momentum"`
	Averaging    number  `json:"averaging"`
	// Expected is what the rehearsals on public examples came to; null without them.
	Expected *plan.Expected `json:"expected"`
	// These four are as in plan.Outlook, and null where it does not have them.
	Slope            *number `json:"slope"`
	SignalToNoise    *number `json:"signal_to_noise"`
	ExpectedAccuracy *number `json:"expected_accuracy"`
	WarmFactor       *number `json:"warm_factor"`
	Promise          promise `json:"promise"`
	Explanation      string  `json:"explanation"`
}

// compareTrusts plans the request for every trust.
func compareTrusts(ctx context.Context, _ *Session, args planArgs, payload []byte) (any, []byte, error) {
	q, err := args.request(payload)
	if err != nil {
		return nil, nil, err
	}
	rows, err := q.Compare(ctx)
	return struct {
		Rows []plan.Row `json:"rows"`
	}{rows}, nil, err
}

func makePlan(ctx context.Context, _ *Session, args planArgs, payload []byte) (any, []byte, error) {
	q, err := args.request(payload)
	if err != nil {
		return nil, nil, err
	}
	run, err := q.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	var explanation strings.Builder
	if err := run.PrintStart(&explanation, true); err != nil {
		return nil, nil, err
	}
	explanation.WriteString("\n")
	p, err := run.PrintEnd(ctx, &explanation, run.Affordable)
	if err != nil {
		return nil, nil, err
	}
	answer := planAnswer{
		Round: describe(run.Template), Trust: run.Trust, Budget: number(run.Budget), Clients: run.Clients, Records: run.Records, Cohort: run.Cohort, Rounds: run.Rounds, Affordable: run.Affordable,
		L1: number(q.L1), L2: number(q.L2), Expected: run.Expected, LearningRate: number(run.LearningRate), Momentum: number(run.Momentum), Averaging: number(run.Averaging),
		Promise: promiseOf(p), Explanation: explanation.String(),
	}
	answer.Round.ID = ""
	if run.Schedule != nil {
		answer.Noise = (*number)(&run.Schedule.Noise)
	}
	if o := run.Outlook; o != nil {
		answer.Slope, answer.SignalToNoise = (*number)(o.Slope), (*number)(o.SignalToNoise)
		if o.ZeroShot > 0 {
			answer.ExpectedAccuracy, answer.WarmFactor = (*number)(&o.Accuracy), (*number)(&o.Factor)
		}
	}
	return answer, nil, nil
}
