package ledger

import (
	"cmp"
	"fmt"
	"math"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// budgets are the budgets of a purpose.
type budgets struct {
	all Budget
	// central is nil where there is none.
	central *Budget
}

// SetBudget sets the budget of a purpose. A budget below what is spent is allowed: nothing
// more can be reserved, and entries already reserved can still be spent, because they
// have been counted. Cost: one synchronised write.
func (l *Ledger) SetBudget(purpose string, b Budget) (err error) {
	defer prefix.Error(&err, "ledger: budget")
	return l.setBudgets(purpose, b, func(tx *bolt.Tx) (budgets, error) {
		bs, _, err := getBudgets(tx, purpose)
		bs.all = b
		return bs, err
	})
}

// SetCentralBudget sets the second budget of a purpose, which Reserve then checks, too. Charges
// count there with their Central guarantee, and those without one with their Guarantee. The
// budget is one against a party that sees only what whole rounds give together. A purpose
// without it is limited by the first budget alone. The error wraps ErrUnknown if the purpose has
// no first one. Otherwise it is as SetBudget.
func (l *Ledger) SetCentralBudget(purpose string, b Budget) (err error) {
	defer prefix.Error(&err, "ledger: central budget")
	return l.setBudgets(purpose, b, func(tx *bolt.Tx) (budgets, error) {
		bs, found, err := getBudgets(tx, purpose)
		if err == nil && !found {
			err = fmt.Errorf("budget of purpose %q: %w", purpose, ErrUnknown)
		}
		bs.central = &b
		return bs, err
	})
}

// setBudgets checks a budget and stores what change makes of those that there are.
func (l *Ledger) setBudgets(purpose string, b Budget, change func(*bolt.Tx) (budgets, error)) error {
	if err := cmp.Or(checkText("purpose", purpose), b.validate()); err != nil {
		return err
	}
	return l.update(func(tx *bolt.Tx) error {
		bs, err := change(tx)
		if err != nil {
			return err
		}
		return put(tx.Bucket(budgetBucket), []byte(purpose), bs.exported())
	})
}

// getBudgets returns the budgets of a purpose, and whether there are any.
func getBudgets(tx *bolt.Tx, purpose string) (bs budgets, found bool, err error) {
	sealed := tx.Bucket(budgetBucket).Get([]byte(purpose))
	if sealed == nil {
		return budgets{}, false, nil
	}
	bs, err = decodeBudgets(purpose, sealed)
	return bs, true, err
}

// admit returns nil if the budgets allow c on top of what is recorded.
func (l *Ledger) admit(tx *bolt.Tx, c Charge) error {
	limits, found, err := getBudgets(tx, c.Purpose)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: %w", ErrBudget, fl.Invalid("purpose", c.Purpose, "must have a budget: set it first, with SetBudget, in Python set_budget"))
	}
	var charges []Charge
	err = eachEntry(tx, func(e Entry) error {
		if e.State == Released || e.Charge.Purpose != c.Purpose {
			return nil
		}
		if e.Charge.Round == c.Round {
			return fmt.Errorf("%w: round %q, entry %v", ErrDuplicate, e.Charge.RoundID, e.ID)
		}
		charges = append(charges, e.Charge)
		return nil
	})
	if err != nil {
		return err
	}
	if err := l.allow(limits.all, append(charges, c)); err != nil {
		return err
	}
	if limits.central == nil {
		return nil
	}
	if err := l.allow(*limits.central, centrally(append(charges, c))); err != nil {
		return fmt.Errorf("central budget: %w", err)
	}
	return nil
}

// allow returns nil if a budget covers all charges. The last of them is new.
func (l *Ledger) allow(limit Budget, charges []Charge) error {
	refuse := func(name string, got any, rule string, args ...any) error {
		return fmt.Errorf("%w: %w", ErrBudget, fl.Invalid(name, got, rule, args...))
	}
	last := len(charges) - 1
	g := charges[last].Guarantee
	if !limit.covers(g) {
		return refuse("relation", g.Relation, "must be %s, as in the budget", limit.Relation)
	}
	if limit.Once && last > 0 {
		return refuse("reports", last+1, "must be 1 in a client's life: the budget allows one report, and round %q has it", charges[0].RoundID)
	}
	total, err := l.total(charges, limit)
	if err != nil {
		return err
	}
	if !(total <= limit.Epsilon) {
		spent, err := l.total(charges[:last], limit)
		if err != nil {
			return err
		}
		return refuse("epsilon", g.Epsilon,
			"on top of the %g spent it makes %g, must be at most %g at delta %g (this report's: %g)",
			spent, total, limit.Epsilon, limit.Delta, g.Delta)
	}
	return nil
}

// centrally returns the charges as they count in a central budget.
func centrally(charges []Charge) []Charge {
	out := make([]Charge, len(charges))
	for i, c := range charges {
		c.Guarantee = c.central()
		out[i] = c
	}
	return out
}

// total returns the ε of all charges at the δ of the budget.
func (l *Ledger) total(charges []Charge, limit Budget) (float64, error) {
	for _, c := range charges {
		// A budget that was narrowed to replace-one says nothing about older charges
		// under zero-out.
		if c.Guarantee.Trust == fl.NoPrivacy || !limit.covers(c.Guarantee) {
			return math.Inf(1), nil
		}
	}
	if len(charges) == 0 {
		return 0, nil
	}
	total, err := l.filter(charges, limit.Delta)
	if err != nil {
		return 0, fmt.Errorf("composition: %w", err)
	}
	if !(total >= 0) {
		return 0, fmt.Errorf("composition: %w", fl.Invalid("epsilon", total, "must be at least 0"))
	}
	return total, nil
}

// spent returns what charges come to at the δ of a budget.
func (l *Ledger) spent(limit Budget, charges []Charge) (Budget, error) {
	total, err := l.total(charges, limit)
	return Budget{Epsilon: total, Delta: limit.Delta, Relation: limit.Relation}, err
}
