package ledger

import (
	"encoding/json"
	"fmt"
	"io"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Entries returns all entries of a purpose, the released among them, in the order of their
// ids. Cost: reading all entries of the ledger.
func (l *Ledger) Entries(purpose string) (entries []Entry, err error) {
	defer prefix.Error(&err, "ledger: entries")
	err = l.view(func(tx *bolt.Tx) error {
		return eachEntry(tx, func(e Entry) error {
			if e.Charge.Purpose == purpose {
				entries = append(entries, e)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Spent returns what all charges of a purpose that count come to: the composed Epsilon, an
// upper bound, at the Delta and Relation of the budget. Before the first charge Epsilon is 0.
// The error wraps ErrUnknown if the purpose has no budget.
// Cost: reading all entries and one composition.
func (l *Ledger) Spent(purpose string) (_ Budget, err error) {
	defer prefix.Error(&err, "ledger: spent")
	return l.spentOf(purpose, func(a *account) (Budget, error) { return l.spent(a.all, a.charges()) })
}

// SpentCentral is Spent for the central budget, see SetCentralBudget. The error wraps ErrUnknown
// if the purpose has none.
func (l *Ledger) SpentCentral(purpose string) (_ Budget, err error) {
	defer prefix.Error(&err, "ledger: spent centrally")
	return l.spentOf(purpose, func(a *account) (Budget, error) {
		if a.central == nil {
			return Budget{}, fmt.Errorf("central budget of purpose %q: %w", purpose, ErrUnknown)
		}
		return l.spent(*a.central, centrally(a.charges()))
	})
}

// spentOf adds up the account of a purpose.
func (l *Ledger) spentOf(purpose string, add func(*account) (Budget, error)) (Budget, error) {
	accounts, err := l.accounts()
	if err != nil {
		return Budget{}, err
	}
	a, ok := accounts[purpose]
	if !ok {
		return Budget{}, fmt.Errorf("purpose %q: %w", purpose, ErrUnknown)
	}
	return add(a)
}

// Export writes what Exported returns as JSON. The writer is not called while the ledger is locked.
func (l *Ledger) Export(w io.Writer) error {
	x, err := l.Exported()
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(x); err != nil {
		return fmt.Errorf("ledger: export: %w", err)
	}
	return nil
}

// Exported returns the whole ledger as it is at one moment, without what entries keep.
// Cost: reading all entries and one composition for each budget.
func (l *Ledger) Exported() (*Exported, error) {
	accounts, err := l.accounts()
	if err != nil {
		return nil, fmt.Errorf("ledger: export: %w", err)
	}
	x := &Exported{Version: exportVersion, Purposes: map[string]ExportedPurpose{}}
	for purpose, a := range accounts {
		spent, err := l.spentBudgets(a)
		if err != nil {
			return nil, fmt.Errorf("ledger: export: %w", err)
		}
		p := ExportedPurpose{Budget: a.budgets.exported(), Spent: spent.exported(), Entries: []ExportedEntry{}}
		for _, e := range a.entries {
			p.Entries = append(p.Entries, e.exported())
		}
		x.Purposes[purpose] = p
	}
	return x, nil
}

// account is all that is recorded for one purpose.
type account struct {
	budgets
	entries []Entry
}

// charges returns those that count.
func (a *account) charges() []Charge {
	var charges []Charge
	for _, e := range a.entries {
		if e.State != Released {
			charges = append(charges, e.Charge)
		}
	}
	return charges
}

// accounts reads the whole ledger, as it is at one moment.
func (l *Ledger) accounts() (map[string]*account, error) {
	accounts := map[string]*account{}
	err := l.view(func(tx *bolt.Tx) error { return readAccounts(tx, accounts) })
	return accounts, err
}

func readAccounts(tx *bolt.Tx, accounts map[string]*account) error {
	err := tx.Bucket(budgetBucket).ForEach(func(purpose, sealed []byte) error {
		b, err := decodeBudgets(string(purpose), sealed)
		accounts[string(purpose)] = &account{budgets: b}
		return err
	})
	if err != nil {
		return err
	}
	return eachEntry(tx, func(e Entry) error {
		a, ok := accounts[e.Charge.Purpose]
		if !ok { // nothing is reserved without a budget, and budgets are never deleted
			return fmt.Errorf("budget %q: %w: missing", e.Charge.Purpose, ErrDamaged)
		}
		a.entries = append(a.entries, e)
		return nil
	})
}

// spentBudgets returns what is spent of each budget of an account.
func (l *Ledger) spentBudgets(a *account) (spent budgets, err error) {
	if spent.all, err = l.spent(a.all, a.charges()); err != nil || a.central == nil {
		return spent, err
	}
	central, err := l.spent(*a.central, centrally(a.charges()))
	spent.central = &central
	return spent, err
}
