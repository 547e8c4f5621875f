package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable"
)

// counter is what the file of a counter holds: how many steps a ledger has come. The ledger
// commits a step, then counts it, and only then reports it. So a sound ledger is never behind
// its counter, and one that has forgotten a step that was reported is.
type counter struct {
	Ledger string `json:"ledger"`
	Step   uint64 `json:"step"`
}

// putBack says what to do about a ledger that has forgotten something.
const putBack = "put the newest copy of the ledger back; if it is lost, count its whole budget as spent"

// counterKey binds the checksum of a counter.
var counterKey = []byte("counter")

// checkCounter compares the ledger with its counter, if it has one, and brings that up to date.
func (l *Ledger) checkCounter(mustExist bool) error {
	if l.counter == "" {
		return nil
	}
	c, err := readCounter(l.counter)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !mustExist:
		return l.count()
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", err, fl.Invalid("Counter", l.counter,
			"must be the counter of this ledger, and is missing: put it back, or open the ledger once without MustExist to make one"))
	case err != nil:
		return fmt.Errorf("counter: %w", err)
	case c.Ledger != l.id:
		return fmt.Errorf("%w: %w", ErrReplaced, fl.Invalid("Counter", l.counter, "must be the counter of this ledger, and is another ledger's"))
	case c.Step > l.transaction:
		return fmt.Errorf("%w: %s is an older copy: %w", ErrReplaced, l.path,
			fl.Invalid("step", l.transaction, "must be at least %d, which its counter %s has reached: %s", c.Step, l.counter, putBack))
	case c.Step < l.transaction:
		return l.count()
	}
	return nil
}

// count writes how many steps the ledger has come, durably, if it has a counter.
func (l *Ledger) count() error {
	if l.counter == "" {
		return nil
	}
	if err := (counter{l.id, l.transaction}).write(l.counter); err != nil {
		return fmt.Errorf("counter: %w", err)
	}
	return nil
}

func readCounter(path string) (c counter, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return counter{}, err
	}
	if err := kind.CheckPlace(info); err != nil {
		return counter{}, err
	}
	sealed, err := os.ReadFile(path)
	if err != nil {
		return counter{}, err
	}
	if err := unseal(counterKey, sealed, &c); err != nil {
		return counter{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return c, nil
}

// write replaces the file of the counter as a whole.
func (c counter) write(path string) error {
	sealed, err := seal(counterKey, c)
	if err != nil {
		return err
	}
	return durable.WriteFile(path, sealed, 0o600)
}
