package ledger

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/internal/boltfile"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Errors that are wrapped by this package's errors. A closed ledger gives fs.ErrClosed.
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
	file   *boltfile.File
	path   string
	id     string
	filter Filter
	now    func() time.Time

	// counter is the path of the second place, or empty.
	counter string

	mu          sync.Mutex
	transaction uint64 // the last one in the file
	failed      error  // of the first failed write, that the file was replaced, or that the ledger is closed
}

// Reserve records a charge, durably, and returns its id. Only then may the client encode.
// The error wraps ErrBudget when the charges composed would exceed the budget of the
// purpose, or its central one if it has one, and a *fl.ParamError has the numbers. It wraps
// ErrDuplicate when the same round has an entry for the purpose that was not released. It wraps
// ErrReplaced when the file is not in its place before the record is written or after. With any
// error nothing may be encoded.
//
// Cost: reading all entries, one composition for each budget and one synchronised write.
func (l *Ledger) Reserve(ctx context.Context, c Charge) (_ ID, err error) {
	defer prefix.Error(&err, "ledger: reserve")
	if err := c.validate(); err != nil {
		return 0, err
	}
	var id ID
	if err := l.update(func(tx *bolt.Tx) (err error) {
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
	}); err != nil {
		return 0, err
	}
	return id, nil
}

// Close closes the file and lets go of its lock. It waits for calls in progress.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = fs.ErrClosed
	return l.file.Close()
}
