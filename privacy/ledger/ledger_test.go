package ledger_test

import (
	"context"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// What counts, step by step, also after the file was closed and opened again.
func TestStates(t *testing.T) {
	l, path := fresh(t, limit(3), ledger.Options{})
	a, b := reserve(t, l, charge(1, 1)), reserve(t, l, charge(2, 2))
	if got := spent(t, l); got != 3 {
		t.Errorf("two reservations: spent %v, want 3", got)
	}
	_, err := l.Reserve(context.Background(), charge(3, 0.5))
	wantError(t, err, ledger.ErrBudget, "epsilon")
	for _, part := range []string{"got 0.5,", "3 spent", "makes 3.5", "at most 3 "} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	must(t, l.Spend(a))
	must(t, l.Release(b))
	if got := spent(t, l); got != 1 {
		t.Errorf("one spent, one released: spent %v, want 1", got)
	}
	must(t, l.Receipt(a, "got it"))
	must(t, l.Receipt(a, "got it"))
	c := reserve(t, l, charge(2, 1)) // nothing of the released one has left
	must(t, l.Close())

	l = reopen(t, path, ledger.Options{MustExist: true})
	if got := spent(t, l); got != 2 {
		t.Errorf("reopened: spent %v, want 2", got)
	}
	es := entries(t, l)
	if len(es) != 3 {
		t.Fatalf("got %d entries, want 3", len(es))
	}
	for i, want := range []struct {
		id      ledger.ID
		state   ledger.State
		charge  ledger.Charge
		receipt string
	}{
		{a, ledger.Acknowledged, charge(1, 1), "got it"}, {b, ledger.Released, charge(2, 2), ""}, {c, ledger.Reserved, charge(2, 1), ""},
	} {
		e := es[i]
		if e.ID != want.id || e.State != want.state || e.Charge != want.charge || e.Receipt != want.receipt {
			t.Errorf("entry %d: got %+v, want %+v", i, e, want)
		}
		if e.ReservedAt.IsZero() || e.SpentAt.IsZero() == (i == 0) || e.AcknowledgedAt.IsZero() == (i == 0) || e.ReleasedAt.IsZero() == (i == 1) {
			t.Errorf("entry %d: wrong times in %+v", i, e)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if _, err := os.Stat(path + ".new"); err == nil {
		t.Error("the temporary file is still there")
	}
}

// A budget for one report allows no second one, however small, and a released one leaves room. Whoever reads the ledger sees it.
func TestOneReportInALife(t *testing.T) {
	once := limit(3)
	once.Once = true
	l, path := fresh(t, once, ledger.Options{})
	must(t, l.Release(reserve(t, l, charge(1, 1))))
	reserve(t, l, charge(2, 1))
	must(t, l.Close())
	l = reopen(t, path, ledger.Options{MustExist: true})
	_, err := l.Reserve(context.Background(), charge(3, 0.5))
	wantError(t, err, ledger.ErrBudget, "reports")
	x, err := l.Exported()
	must(t, err)
	if b := x.Purposes[charge(1, 1).Purpose].Budget; !b.Once {
		t.Errorf("exported: %+v", b)
	}
	must(t, l.SetBudget(charge(1, 1).Purpose, limit(3)))
	reserve(t, l, charge(3, 0.5))
}

// Every step from every state: only the diagram's steps are allowed, and the others
// change nothing.
func TestForbiddenSteps(t *testing.T) {
	steps := []struct {
		name string
		do   func(*ledger.Ledger, ledger.ID) error
	}{
		{"spend", (*ledger.Ledger).Spend},
		{"release", (*ledger.Ledger).Release},
		{"receipt", func(l *ledger.Ledger, id ledger.ID) error { return l.Receipt(id, "other") }},
	}
	for _, c := range []struct {
		to      ledger.State
		by      []int
		allowed string
	}{
		{ledger.Reserved, nil, "spend release"},
		{ledger.Spent, []int{0}, "receipt"},
		{ledger.Released, []int{1}, ""},
		{ledger.Acknowledged, []int{0, 2}, ""},
	} {
		for _, step := range steps {
			l, _ := fresh(t, limit(3), ledger.Options{})
			id := reserve(t, l, charge(1, 1))
			for _, i := range c.by {
				must(t, steps[i].do(l, id))
			}
			if c.to == ledger.Acknowledged && step.name == "receipt" {
				step.do = func(l *ledger.Ledger, id ledger.ID) error { return l.Receipt(id, "another") }
			}
			before := entries(t, l)
			err := step.do(l, id)
			if strings.Contains(c.allowed, step.name) {
				must(t, err)
				continue
			}
			wantError(t, err, ledger.ErrState, "")
			if after := entries(t, l); before[0].State != c.to || !reflect.DeepEqual(before, after) {
				t.Errorf("%s after %v: changed %+v to %+v", step.name, c.to, before, after)
			}
		}
	}
	l, _ := fresh(t, limit(3), ledger.Options{})
	for _, step := range steps {
		wantError(t, step.do(l, 1), ledger.ErrUnknown, "")
	}
}

func TestRefusedCharges(t *testing.T) {
	l, _ := fresh(t, limit(5), ledger.Options{})
	ctx := context.Background()
	for _, c := range []struct {
		change func(*ledger.Charge)
		target error
		param  string
	}{
		{func(c *ledger.Charge) { c.Guarantee.Epsilon = nan }, nil, "epsilon"},
		{func(c *ledger.Charge) { c.Guarantee.Epsilon = -1 }, nil, "epsilon"},
		{func(c *ledger.Charge) { c.Guarantee.Epsilon = inf }, nil, "epsilon"},
		{func(c *ledger.Charge) { c.Guarantee.Epsilon = 20.5 }, nil, "epsilon"},
		{func(c *ledger.Charge) { c.Guarantee.Delta = nan }, nil, "delta"},
		{func(c *ledger.Charge) { c.Guarantee.Delta = -1e-9 }, nil, "delta"},
		{func(c *ledger.Charge) { c.Guarantee.Delta = 1 }, nil, "delta"},
		{func(c *ledger.Charge) { c.Guarantee.Trust = 0 }, nil, "trust"},
		{func(c *ledger.Charge) { c.Guarantee.Trust = fl.NoPrivacy }, nil, "epsilon"},
		{func(c *ledger.Charge) { c.Guarantee.Relation = fl.ZeroOut }, nil, "relation"},
		{func(c *ledger.Charge) { c.Guarantee.Trust, c.Guarantee.Relation = fl.Shuffle, 0 }, nil, "relation"},
		{func(c *ledger.Charge) { c.Guarantee = fl.Guarantee{Trust: fl.NoPrivacy, Epsilon: inf, Relation: 9} }, nil, "relation"},
		{func(c *ledger.Charge) { c.Guarantee.RealNumbers = true }, nil, "real_numbers"},
		{func(c *ledger.Charge) { c.Round = [32]byte{} }, nil, "round"},
		{func(c *ledger.Charge) { c.RoundID = "" }, nil, "round_id"},
		{func(c *ledger.Charge) { c.RoundID = "\xff" }, nil, "round_id"},
		{func(c *ledger.Charge) { c.Mechanism = strings.Repeat("x", 257) }, nil, "mechanism"},
		{func(c *ledger.Charge) { c.Purpose = "" }, nil, "purpose"},
		{func(c *ledger.Charge) { c.Purpose = "none" }, ledger.ErrBudget, "purpose"},
		{func(c *ledger.Charge) { c.Guarantee.Epsilon = math.Nextafter(5, 6) }, ledger.ErrBudget, "epsilon"},
		{func(c *ledger.Charge) { c.Guarantee.Delta = 1e-300 }, ledger.ErrBudget, "epsilon"},
		{func(c *ledger.Charge) { c.Guarantee.Trust, c.Guarantee.Relation = fl.Shuffle, fl.ZeroOut }, ledger.ErrBudget, "relation"},
		{func(c *ledger.Charge) { c.Guarantee = fl.Guarantee{Trust: fl.NoPrivacy, Epsilon: inf} }, ledger.ErrBudget, "epsilon"},
	} {
		bad := charge(1, 1)
		c.change(&bad)
		_, err := l.Reserve(ctx, bad)
		wantError(t, err, c.target, c.param)
		if c.target == nil && errors.Is(err, ledger.ErrBudget) {
			t.Errorf("%v: a bad charge is no question of budget", err)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err := l.Reserve(stopped, charge(1, 1))
	wantError(t, err, context.Canceled, "")
	if es := entries(t, l); len(es) != 0 {
		t.Errorf("refused charges left %d entries", len(es))
	}
	first := reserve(t, l, charge(1, 1))
	_, err = l.Reserve(ctx, charge(1, 2))
	wantError(t, err, ledger.ErrDuplicate, "")
	must(t, l.Spend(first))
	_, err = l.Reserve(ctx, charge(1, 2))
	wantError(t, err, ledger.ErrDuplicate, "")
	reserve(t, l, charge(2, 4)) // exactly the rest
	wantError(t, l.Receipt(first, ""), nil, "receipt")
}

func TestBudgets(t *testing.T) {
	l, _ := fresh(t, limit(5), ledger.Options{})
	ctx := context.Background()
	for _, c := range []struct {
		b     ledger.Budget
		param string
	}{
		{limit(nan), "epsilon"}, {limit(-1), "epsilon"}, {ledger.Budget{Epsilon: 1}, "relation"},
		{ledger.Budget{Delta: 1, Relation: fl.ReplaceOne}, "delta"}, {ledger.Budget{Delta: nan, Relation: fl.ReplaceOne}, "delta"},
	} {
		wantError(t, l.SetBudget("other", c.b), nil, c.param)
	}
	wantError(t, l.SetBudget("", limit(1)), nil, "purpose")
	_, err := l.Spent("other")
	wantError(t, err, ledger.ErrUnknown, "")

	// Budgets are apart from each other, and the same round may be charged to two.
	must(t, l.SetBudget("other", limit(1)))
	id := reserve(t, l, charge(1, 5))
	other := charge(1, 1)
	other.Purpose = "other"
	reserve(t, l, other)

	if es := entries(t, l); len(es) != 1 || es[0].ID != id {
		t.Errorf("got %+v, want the one entry of the purpose", es)
	}

	// Lowered below what is spent: nothing more, but what was counted may go out.
	must(t, l.SetBudget(purpose, limit(1)))
	_, err = l.Reserve(ctx, charge(2, 0))
	wantError(t, err, ledger.ErrBudget, "epsilon")
	must(t, l.Spend(id))
	must(t, l.SetBudget(purpose, limit(6)))
	reserve(t, l, charge(2, 1))

	// Zero-out takes both relations; replace-one cannot account for what was zero-out.
	zero := charge(3, 1)
	zero.Guarantee.Trust, zero.Guarantee.Relation = fl.Shuffle, fl.ZeroOut
	must(t, l.SetBudget(purpose, ledger.Budget{Epsilon: 9, Relation: fl.ZeroOut}))
	reserve(t, l, zero)
	reserve(t, l, charge(4, 1))
	if got := spent(t, l); got != 8 {
		t.Errorf("spent %v, want 8", got)
	}
	must(t, l.SetBudget(purpose, limit(100)))
	_, err = l.Reserve(ctx, charge(5, 1))
	wantError(t, err, ledger.ErrBudget, "epsilon")

	// Only a budget without a limit pays for reports without privacy.
	must(t, l.SetBudget(purpose, limit(inf)))
	open := charge(6, inf)
	open.Guarantee = fl.Guarantee{Trust: fl.NoPrivacy, Epsilon: inf}
	reserve(t, l, open)
	if got := spent(t, l); got != inf {
		t.Errorf("spent %v, want +Inf", got)
	}
}

// Many goroutines ask for the last of the budget, and as many spend the same entry.
func TestRacingGoroutines(t *testing.T) {
	const workers, budget = 16, 5
	l, _ := fresh(t, limit(budget), ledger.Options{})
	var reserved, spends, others atomic.Int32
	var group sync.WaitGroup
	for n := range uint64(workers) {
		group.Go(func() {
			switch _, err := l.Reserve(context.Background(), charge(n+1, 1)); {
			case err == nil:
				reserved.Add(1)
			case !errors.Is(err, ledger.ErrBudget):
				others.Add(1)
			}
		})
	}
	group.Wait()
	for range workers {
		group.Go(func() {
			switch err := l.Spend(3); {
			case err == nil:
				spends.Add(1)
			case !errors.Is(err, ledger.ErrState):
				others.Add(1)
			}
		})
	}
	group.Wait()
	if reserved.Load() != budget || spends.Load() != 1 || others.Load() != 0 || spent(t, l) != budget {
		t.Errorf("%d reserved, %d spent one entry, %d other errors; want %d, 1, 0", reserved.Load(), spends.Load(), others.Load(), budget)
	}
}

func TestGuaranteesByTwoServersArePaidForAsOthers(t *testing.T) {
	l, path := fresh(t, limit(2), ledger.Options{})
	halves := charge(1, 1.5)
	halves.Guarantee.Trust = fl.TwoServers
	reserve(t, l, halves)
	must(t, l.Close())
	l = reopen(t, path, ledger.Options{})
	if es := entries(t, l); len(es) != 1 || es[0].Charge != halves {
		t.Errorf("got %+v, want one entry with %+v", es, halves)
	}
	_, err := l.Reserve(context.Background(), charge(2, 1))
	wantError(t, err, ledger.ErrBudget, "epsilon")
}
