package ledger_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// shuffled is the guarantee of a shuffled report.
func shuffled(epsilon, delta float64) fl.Guarantee {
	return fl.Guarantee{Trust: fl.Shuffle, Epsilon: epsilon, Delta: delta, Relation: fl.ReplaceOne}
}

// both is a report of round n with a local and a central ε.
func both(n uint64, local, central float64) ledger.Charge {
	c := charge(n, local)
	c.Central = shuffled(central, 0)
	return c
}

func spentCentral(t *testing.T, l *ledger.Ledger) float64 {
	t.Helper()
	b, err := l.SpentCentral(purpose)
	must(t, err)
	return b.Epsilon
}

// Both budgets hold, whichever is used up first, also after the file was closed. A charge
// without a central guarantee counts in both with its local one.
func TestBothBudgetsHold(t *testing.T) {
	l, path := fresh(t, limit(10), ledger.Options{})
	reserve(t, l, both(1, 3, 0.25)) // before there is a central budget
	_, err := l.SpentCentral(purpose)
	wantError(t, err, ledger.ErrUnknown, "")
	must(t, l.SetCentralBudget(purpose, limit(2)))
	must(t, l.Close())
	l = reopen(t, path, ledger.Options{})
	if all, central := spent(t, l), spentCentral(t, l); all != 3 || central != 0.25 {
		t.Errorf("spent %v and %v centrally, want 3 and 0.25", all, central)
	}
	reserve(t, l, charge(2, 1))
	if all, central := spent(t, l), spentCentral(t, l); all != 4 || central != 1.25 {
		t.Errorf("with a local report: spent %v and %v centrally, want 4 and 1.25", all, central)
	}
	refuse := func(c ledger.Charge, says string) {
		t.Helper()
		before := entries(t, l)
		_, err := l.Reserve(context.Background(), c)
		wantError(t, err, ledger.ErrBudget, "epsilon")
		if err == nil || !strings.Contains(err.Error(), says) || len(entries(t, l)) != len(before) {
			t.Errorf("%v does not say %q, or an entry was made", err, says)
		}
	}
	refuse(both(3, 1, 0.875), "central budget: refused by the budget: epsilon: got 0.875")
	refuse(charge(3, 1), "central budget: ")
	refuse(both(3, 6.5, 0.25), "refused by the budget: epsilon: got 6.5")
	id := reserve(t, l, both(3, 6, 0.75))
	if all, central := spent(t, l), spentCentral(t, l); all != 10 || central != 2 {
		t.Errorf("in the end: spent %v and %v centrally, want 10 and 2", all, central)
	}
	must(t, l.Release(id))
	if central := spentCentral(t, l); central != 1.25 {
		t.Errorf("after the release: %v centrally, want 1.25", central)
	}
	// To set the one budget keeps the other.
	must(t, l.SetBudget(purpose, limit(100)))
	refuse(both(4, 1, 0.875), "central budget: ")
	must(t, l.SetCentralBudget(purpose, limit(100)))
	reserve(t, l, both(4, 1, 0.875))
	if es := entries(t, l); es[0].Charge != both(1, 3, 0.25) || es[1].Charge != charge(2, 1) {
		t.Errorf("entries %+v", es)
	}
}

func TestRefusedCentralGuarantees(t *testing.T) {
	l, _ := fresh(t, limit(10), ledger.Options{})
	for param, change := range map[string]func(g *fl.Guarantee){
		"trust":        func(g *fl.Guarantee) { g.Trust = fl.Local },
		"epsilon":      func(g *fl.Guarantee) { g.Epsilon = nan },
		"delta":        func(g *fl.Guarantee) { g.Delta = 1 },
		"relation":     func(g *fl.Guarantee) { g.Relation = 0 },
		"real_numbers": func(g *fl.Guarantee) { g.RealNumbers = true },
	} {
		c := both(1, 1, 0.5)
		change(&c.Central)
		_, err := l.Reserve(context.Background(), c)
		wantError(t, err, nil, param)
		if err == nil || !strings.Contains(err.Error(), "central guarantee: ") {
			t.Errorf("%s: %v does not say which guarantee", param, err)
		}
	}
	// Under a budget for replace-one a guarantee under zero-out says nothing.
	must(t, l.SetCentralBudget(purpose, limit(10)))
	c := both(1, 1, 0.5)
	c.Central.Trust, c.Central.Relation = fl.TwoServers, fl.ZeroOut
	_, err := l.Reserve(context.Background(), c)
	wantError(t, err, ledger.ErrBudget, "relation")
	must(t, l.SetCentralBudget(purpose, ledger.Budget{Epsilon: 10, Relation: fl.ZeroOut}))
	reserve(t, l, c)
	for param, b := range map[string]ledger.Budget{"epsilon": limit(-1), "delta": {Epsilon: 1, Delta: 1, Relation: fl.ReplaceOne}, "relation": {Epsilon: 1}} {
		wantError(t, l.SetCentralBudget(purpose, b), nil, param)
	}
	wantError(t, l.SetCentralBudget("", limit(1)), nil, "purpose")
	wantError(t, l.SetCentralBudget("other", limit(1)), ledger.ErrUnknown, "")
}
