//go:build js

// Command cost is the planner for the page docs/cost.md of the site. Change it when the page asks something else. Start with
// docs/site/cost.py, which builds it. The global function planTrust takes a plan.Request in JSON and a function
// that is called with the steps done and the steps in all. It returns a plan.Row in JSON, for the request's trust.
package main

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"syscall/js"

	"github.com/hushgrad/hushgrad/plan"
)

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
func planTrust(request string, progress plan.Progress) ([]byte, error) {
	q := plan.Request{Progress: progress}
	if err := json.Unmarshal([]byte(request), &q); err != nil {
		return nil, err
	}
	rows, err := q.Compare(context.Background(), q.Trust)
	if err != nil {
		return nil, err
	}
	return json.Marshal(rows[0])
}

// steps shows the page how far the plan is.
type steps struct {
	show      js.Value
	all, done atomic.Int32
}

func (s *steps) Grow(n int) { s.all.Add(int32(n)) }

func (s *steps) Step() { s.show.Invoke(s.done.Add(1), s.all.Load()) }
