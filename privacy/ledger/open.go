package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/hushgrad/hushgrad/fl"
)

// Options are the settings of a Ledger.
type Options struct {
	// Compose is the accountant. Default Either.
	Compose Composer
	// Timeout is how long Open waits for another process to let go of the file.
	// Default one second.
	Timeout time.Duration
	// MustExist makes a missing file an error instead of a new ledger.
	MustExist bool
	// Now is the clock of the time stamps. Default time.Now.
	Now func() time.Time
}

// Open opens the ledger in a file, which it locks, and creates it with mode 0600 if it is
// missing. The error wraps ErrLocked if the file is in use for longer than the timeout,
// ErrNotLedger if it is something else, ErrDamaged if it is a ledger with any damage, and
// fs.ErrNotExist if it has to exist and does not.
//
// A new ledger is made in the file path + ".new" and renamed when it is complete, so that path
// never holds half of one. Cost: reading the whole file.
func Open(path string, opts Options) (*Ledger, error) {
	l, err := open(path, opts)
	if err != nil {
		return nil, fmt.Errorf("ledger: open %s: %w", path, err)
	}
	return l, nil
}

func open(path string, opts Options) (*Ledger, error) {
	timeout := cmp.Or(opts.Timeout, time.Second)
	if timeout < 0 {
		return nil, fl.Invalid("Timeout", opts.Timeout, "must be positive, or 0 for the default")
	}
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist) && !opts.MustExist:
		if err := create(path, timeout); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if err := checkHeaders(path, timeout); err != nil {
		return nil, err
	}
	db, err := openChecked(path, timeout)
	if err != nil {
		return nil, err
	}
	l := &Ledger{db: db, compose: opts.Compose, now: opts.Now}
	if l.compose == nil {
		l.compose = Either
	}
	if l.now == nil {
		l.now = time.Now
	}
	return l, nil
}

// create makes a new ledger, unless another process does so first. Whoever holds the lock
// of path + ".new" and sees no path is the only one who can make it: a file that loses the name
// has become path, and path never vanishes.
func create(path string, timeout time.Duration) error {
	fresh := path + ".new"
	db, err := openBolt(fresh, timeout, false, new(*os.File))
	if err != nil {
		return fmt.Errorf("%s, which has never held a charge: %w", fresh, err)
	}
	defer db.Close()
	switch _, err := os.Lstat(path); {
	case err == nil:
		_ = os.Remove(fresh) // if it is still there, nobody can make a ledger of it
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := db.Update(initialise); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	// The name has to be as durable as the contents.
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// openBolt opens a bbolt file and also tells its descriptor.
func openBolt(path string, timeout time.Duration, readOnly bool, file **os.File) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		Timeout: timeout, ReadOnly: readOnly, NoStatistics: true,
		OpenFile: func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
			*file, err = os.OpenFile(name, flag, mode)
			return *file, err
		},
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		err = ErrLocked
	}
	return db, err
}

// openChecked opens a file with sound headers and checks everything else.
func openChecked(path string, timeout time.Duration) (*bolt.DB, error) {
	var db *bolt.DB
	err := guard(func() (err error) {
		db, err = openBolt(path, timeout, false, new(*os.File))
		return err
	})
	if err != nil {
		return nil, err
	}
	tx, err := db.Begin(false)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := errors.Join(guard(func() error { return check(tx) }), tx.Rollback()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// guard makes an error of a panic or of a read beyond the mapped memory, which is how bbolt,
// which trusts its pages, meets damaged ones.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	return do()
}

// check reads everything in the file.
func check(tx *bolt.Tx) error {
	b := tx.Bucket(headBucket)
	if b == nil {
		return ErrNotLedger
	}
	var h head
	if err := unseal(formatKey, b.Get(formatKey), &h); err != nil {
		return fmt.Errorf("format: %w: %w", ErrDamaged, err)
	}
	if h.Version != formatVersion {
		return fmt.Errorf("%w: %w", ErrNotLedger, fl.Invalid("version", h.Version, "must be %d", formatVersion))
	}
	for _, name := range [][]byte{budgetBucket, entryBucket} {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("bucket %q: %w: missing", name, ErrDamaged)
		}
	}
	if err := readAccounts(tx, map[string]*account{}); err != nil {
		return err
	}
	// Pages that are both free and in use would be overwritten.
	var found error
	for err := range tx.Check() { // to the end, or its goroutine never ends
		found = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return found
}
