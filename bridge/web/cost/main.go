//go:build js

// Command cost is the planner for the page docs/cost.md of the site. Change it when the page asks something else. Start with
// docs/site/cost.py, which builds it. The global function planTrust takes a question in JSON and a function
// that is called with the steps done and the steps in all. It returns a plan.Row in JSON, for the question's trust.
package main

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"syscall/js"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/plan"
)

// question is what the page asks.
type question struct {
	plan.Request
	// Digits says that generated digits are learned, in the features of the demo: what hushgrad account plan rehearses
	// with --features edges-centred. The request's Dim and norms then have no effect.
	Digits bool
}

func main() {
	js.Global().Set("planTrust", js.FuncOf(func(_ js.Value, args []js.Value) any {
		answer, err := planTrust(args[0].String(), &steps{show: args[1]})
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"row": string(answer)}
	}))
	select {}
}

// planTrust compares a single trust.
func planTrust(asked string, progress plan.Progress) ([]byte, error) {
	ctx := context.Background()
	q := question{Request: plan.Request{Progress: progress}}
	if err := json.Unmarshal([]byte(asked), &q); err != nil {
		return nil, err
	}
	if q.Digits {
		if err := q.fillDigits(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := q.Compare(ctx, q.Trust)
	if err != nil {
		return nil, err
	}
	return json.Marshal(rows[0])
}

// digits are the classes of digits.
const digits = 10

// fillDigits draws the pictures that the command draws. They are drawn once for all trusts.
func (q *question) fillDigits(ctx context.Context) error {
	f, err := dataset.OpenFeatures(ctx, dataset.EdgesCentred, nil)
	if err != nil {
		return err
	}
	public, err := dataset.NewPublic(ctx, dataset.Digits, digits, f, dataset.ToRehearse, nil)
	if err != nil {
		return err
	}
	public.Fill(&q.Request)
	q.PerClient = max(1, dataset.Pictures/q.Clients)
	return nil
}

// steps shows the page how far the plan is.
type steps struct {
	show      js.Value
	all, done atomic.Int32
}

func (s *steps) Grow(n int) { s.all.Add(int32(n)) }

func (s *steps) Step() { s.show.Invoke(s.done.Add(1), s.all.Load()) }
