package ledger

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Spend records, durably, that the report is about to leave. It must return nil before the
// first byte does. Of several calls for one entry one succeeds. The error wraps ErrState
// if the entry is not reserved, ErrUnknown if there is none, and ErrReplaced if the file is not in
// its place. Cost: one synchronised write.
func (l *Ledger) Spend(id ID) error {
	return l.step("spend", id, func(e *Entry) error {
		if e.State != Reserved {
			return ErrState
		}
		e.State, e.SpentAt = Spent, l.now().UTC()
		return nil
	})
}

// Release gives a reservation back. The caller vouches that nothing has left the client and
// that the report, if it was encoded, is destroyed. Errors and cost are Spend's.
func (l *Ledger) Release(id ID) error {
	return l.step("release", id, func(e *Entry) error {
		if e.State != Reserved {
			return ErrState
		}
		e.State, e.ReleasedAt = Released, l.now().UTC()
		return nil
	})
}

// Receipt notes the server's acknowledgement of a spent report, at most 256 bytes of UTF-8 and
// not empty. To repeat it is no error; another one for the same entry is. Errors and cost
// are Spend's.
func (l *Ledger) Receipt(id ID, receipt string) error {
	if err := checkText("receipt", receipt); err != nil {
		return fmt.Errorf("ledger: receipt: %w", err)
	}
	return l.step("receipt", id, func(e *Entry) error {
		switch {
		case e.State == Acknowledged && e.Receipt == receipt:
			return nil
		case e.State != Spent:
			return ErrState
		}
		e.State, e.AcknowledgedAt, e.Receipt = Acknowledged, l.now().UTC(), receipt
		return nil
	})
}

// step replaces an entry by what change makes of it.
func (l *Ledger) step(name string, id ID, change func(*Entry) error) (err error) {
	defer prefix.Error(&err, "ledger: %s", name)
	return l.update(func(tx *bolt.Tx) error {
		e, err := getEntry(tx, id)
		if err != nil {
			return err
		}
		if err := change(&e); err != nil {
			return fmt.Errorf("entry %v is %v: %w", id, e.State, err)
		}
		if e.ended() {
			if err := tx.Bucket(keptBucket).Delete(id.key()); err != nil {
				return err
			}
		}
		return putEntry(tx, e)
	})
}
