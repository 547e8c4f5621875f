package fl

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// wary complains when it sees a round that Validate refuses, and completes a
// round to what its own Open, or Validate, refuses on request.
type wary struct {
	t        *testing.T
	complete func(*Round)
}

func (w wary) look(r Round) {
	w.t.Helper()
	if err := r.Validate(); err != nil {
		w.t.Errorf("the factory sees a round that breaks a rule: %v", err)
	}
}

func (w wary) Open(r Round) (Mechanism, error) {
	w.look(r)
	slots, err := r.Params.Int("slots")
	if err != nil {
		return nil, err
	}
	if slots < 4 {
		return nil, Invalid("slots", slots, "must be at least 4")
	}
	return &sum{}, nil
}

func (w wary) Complete(r Round) (Round, error) {
	w.look(r)
	w.complete(&r)
	return r, nil
}

// unusedName returns a name that no mechanism has, also when a test runs twice.
func unusedName() string { return fmt.Sprintf("test-%d", len(Mechanisms())) }

func TestFactoriesSeeOnlyValidRounds(t *testing.T) {
	name := unusedName()
	Register(name, wary{t: t, complete: func(*Round) {}})
	if _, err := Open(fullRoundOf(name)); err != nil {
		t.Errorf("a good round: %v", err)
	}
	for param, mutate := range map[string]func(*Round){
		"epsilon": func(r *Round) { r.Epsilon = math.NaN() }, "dim": func(r *Round) { r.Dim = 0 },
		"public_seed": func(r *Round) { r.PublicSeed = [32]byte{} },
	} {
		r := fullRoundOf(name)
		mutate(&r)
		var p *ParamError
		if _, err := Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("Open: error %v, want a ParamError for %s", err, param)
		}
		if _, err := Complete(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("Complete: error %v, want a ParamError for %s", err, param)
		}
	}
}

func TestCompleteChecksItsResult(t *testing.T) {
	var complete func(*Round)
	name := unusedName()
	Register(name, wary{t: t, complete: func(r *Round) { complete(r) }})
	for param, c := range map[string]func(*Round){
		"slots": func(r *Round) { r.Params = r.Params.With("slots", Int(3)) },
		"scale": func(r *Round) { r.Scale = 0 },
	} {
		complete = c
		var p *ParamError
		if r, err := Complete(fullRoundOf(name)); !errors.As(err, &p) || p.Param != param {
			t.Errorf("completed to %+v, %v, want a ParamError for %s", r, err, param)
		}
	}
	complete = func(r *Round) { r.Params = r.Params.With("slots", Int(4)) }
	if r, err := Complete(fullRoundOf(name)); err != nil || r.Params["slots"] != Int(4) {
		t.Errorf("completed to %+v, %v, want 4 slots", r, err)
	}
}
