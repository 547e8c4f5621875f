package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/fl"
)

// Errors that are wrapped by those of this package. A closed ledger gives fs.ErrClosed.
var (
	// ErrBudget: the budget does not allow the charge, or there is none.
	ErrBudget = errors.New("refused by the budget")
	// ErrDuplicate: the round already has an entry that counts.
	ErrDuplicate = errors.New("the round is already charged")
	// ErrState: the entry's state does not allow the step.
	ErrState = errors.New("wrong state")
	// ErrUnknown: there is no such entry or purpose.
	ErrUnknown = errors.New("unknown")
	// ErrLocked: the file is open elsewhere.
	ErrLocked = errors.New("in use by another process")
	// ErrNotLedger: the file is something else or of another version.
	ErrNotLedger = errors.New("not a ledger")
	// ErrDamaged: the file is a ledger and may have forgotten something.
	ErrDamaged = errors.New("damaged ledger")
	// ErrFailed: a write failed; close the ledger and open it anew.
	ErrFailed = errors.New("the ledger could not be written")
	// ErrReplaced: the file is no longer the one that the ledger has opened, or an older copy of
	// it; close the ledger, find out why, and open it anew.
	ErrReplaced = errors.New("the ledger was replaced")
)

// Ledger is an open ledger. It is safe for concurrent use.
type Ledger struct {
	db     *bolt.DB
	file   *os.File // of db
	path   string
	id     string
	filter Filter
	now    func() time.Time

	// counter is the path of the second place, or empty.
	counter string

	mu          sync.Mutex
	transaction uint64 // the last one in the file
	failed      error  // of the first failed write, or that the file was replaced
}

// SetBudget sets the budget of a purpose. A budget below what is spent is allowed: nothing
// more can be reserved, and entries already reserved can still be spent, because they
// have been counted. Cost: one synchronised write.
func (l *Ledger) SetBudget(purpose string, b Budget) error {
	err := checkText("purpose", purpose)
	if err == nil {
		err = b.validate()
	}
	if err == nil {
		err = l.update(func(tx *bolt.Tx) error {
			return put(tx.Bucket(budgetBucket), []byte(purpose), b.toJSON())
		})
	}
	if err != nil {
		return fmt.Errorf("ledger: budget: %w", err)
	}
	return nil
}

// Reserve records a charge, durably, and returns its id. Only then may the client encode.
// The error wraps ErrBudget when the charges composed would exceed the budget of the
// purpose, and a *fl.ParamError has the numbers. It wraps ErrDuplicate when the same round
// has an entry for the purpose that was not released. It wraps ErrReplaced when the file is not in
// its place before the record is written or after. With any error nothing may be encoded.
//
// Cost: reading all entries, one composition and one synchronised write.
func (l *Ledger) Reserve(ctx context.Context, c Charge) (ID, error) {
	var id ID
	err := c.validate()
	if err == nil {
		err = l.update(func(tx *bolt.Tx) (err error) {
			if err := l.admit(tx, c); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil { // composition may take long
				return err
			}
			next, err := tx.Bucket(entryBucket).NextSequence()
			if err != nil {
				return err
			}
			id = ID(next)
			return putEntry(tx, Entry{ID: id, State: Reserved, Charge: c, ReservedAt: l.now().UTC()})
		})
	}
	if err != nil {
		return 0, fmt.Errorf("ledger: reserve: %w", err)
	}
	return id, nil
}

// admit returns nil if the budget allows c on top of what is recorded.
func (l *Ledger) admit(tx *bolt.Tx, c Charge) error {
	refuse := func(name string, got any, rule string, args ...any) error {
		return fmt.Errorf("%w: %w", ErrBudget, fl.Invalid(name, got, rule, args...))
	}
	sealed := tx.Bucket(budgetBucket).Get([]byte(c.Purpose))
	if sealed == nil {
		return refuse("purpose", c.Purpose, "must have a budget")
	}
	limit, err := decodeBudget(c.Purpose, sealed)
	if err != nil {
		return err
	}
	if !limit.covers(c) {
		return refuse("relation", c.Guarantee.Relation, "must be %s, as in the budget", limit.Relation)
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
	total, err := l.total(append(charges, c), limit)
	if err != nil {
		return err
	}
	if !(total <= limit.Epsilon) {
		spent, err := l.total(charges, limit)
		if err != nil {
			return err
		}
		return refuse("epsilon", c.Guarantee.Epsilon,
			"on top of the %g spent it makes %g, must be at most %g at delta %g (this report's: %g)",
			spent, total, limit.Epsilon, limit.Delta, c.Guarantee.Delta)
	}
	return nil
}

// total returns the ε of all charges at the δ of the budget.
func (l *Ledger) total(charges []Charge, limit Budget) (float64, error) {
	for _, c := range charges {
		// A budget that was narrowed to replace-one says nothing about older charges
		// under zero-out.
		if c.Guarantee.Trust == fl.NoPrivacy || !limit.covers(c) {
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

// Close closes the file and lets go of its lock. It waits for calls in progress.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.db.Close()
}
