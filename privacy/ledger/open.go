package ledger

import (
	"cmp"
	"encoding/hex"
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
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Options are the settings of a Ledger.
type Options struct {
	// Filter is the accountant. Default EitherFilter.
	Filter Filter
	// Timeout is how long Open waits for another process to let go of the file.
	// Default one second.
	Timeout time.Duration
	// MustExist makes a missing file an error instead of a new ledger.
	MustExist bool
	// Counter is the file of a counter in another directory than the ledger: on another disk, or
	// outside of what is backed up. It is written after every step, before the step is reported.
	// With it Open refuses a ledger that is gone, another one, or an older copy. A counter that is
	// missing is made, unless MustExist is set. Default "", none.
	Counter string
	// Now is the clock of the time stamps. Default time.Now.
	Now func() time.Time
}

// Open opens the ledger in a file, which it locks, and creates it with mode 0600 if it is
// missing. The error wraps ErrLocked if the file is in use for longer than the timeout,
// ErrNotLedger if it is something else, a symbolic link, or on Unix a file of another user,
// ErrDamaged if it is a ledger with any damage, ErrReplaced if the counter disagrees, and
// fs.ErrNotExist if it has to exist and does not.
//
// A new ledger is made in the file path + ".new" and renamed when it is complete, so that path
// never holds half of one. Cost: reading the whole file.
func Open(path string, opts Options) (_ *Ledger, err error) {
	defer prefix.Error(&err, "ledger: open %s", path)
	timeout := cmp.Or(opts.Timeout, time.Second)
	if timeout < 0 {
		return nil, fl.Invalid("Timeout", opts.Timeout, "must be positive, or 0 for the default")
	}
	for _, file := range []*string{&path, &opts.Counter} { // the process may change its directory
		if *file == "" {
			continue
		}
		var err error
		if *file, err = filepath.Abs(*file); err != nil {
			return nil, err
		}
	}
	if opts.Counter != "" && filepath.Dir(opts.Counter) == filepath.Dir(path) {
		return nil, fl.Invalid("Counter", opts.Counter, "must be in another directory than the ledger: whoever restores the directory restores both")
	}
	// A counter is made after its ledger, so its presence is asked for first.
	_, uncounted := os.Lstat(opts.Counter)
	switch _, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist) && opts.Counter != "" && uncounted == nil:
		return nil, fmt.Errorf("%w: it is gone, and its counter %s is not: %s", ErrReplaced, opts.Counter, putBack)
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
	l := &Ledger{path: path, counter: opts.Counter, filter: opts.Filter, now: opts.Now}
	if l.filter == nil {
		l.filter = EitherFilter
	}
	if l.now == nil {
		l.now = time.Now
	}
	h, err := l.open(timeout)
	if err != nil {
		return nil, err
	}
	err = l.checkCounter(opts.MustExist)
	if err == nil {
		err = l.upgrade(h)
	}
	if err != nil {
		return nil, errors.Join(err, l.db.Close())
	}
	return l, nil
}

// create makes a new ledger, unless another process does so first. A process that holds the
// lock of path + ".new" and sees no path is the only one that can make it: a file that loses
// the name has become path, and path never vanishes.
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
	return syncDir(path)
}

// openBolt opens a bbolt file and also returns its descriptor, in file.
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

// open opens a file with sound headers and checks everything else.
func (l *Ledger) open(timeout time.Duration) (h head, err error) {
	err = guard(func() (err error) {
		l.db, err = openBolt(l.path, timeout, false, &l.file)
		return err
	})
	if err != nil {
		return h, err
	}
	tx, err := l.db.Begin(false)
	if err != nil {
		return h, errors.Join(err, l.db.Close())
	}
	err = errors.Join(guard(func() (err error) { h, err = check(tx); return err }), tx.Rollback())
	if err == nil {
		l.id = h.ID
		err = l.settle()
	}
	if err != nil {
		return h, errors.Join(err, l.db.Close())
	}
	return h, nil
}

// settle notes how far the ledger has come. The file is the one at the path, and nothing else
// than what was looked at before it was opened.
func (l *Ledger) settle() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if err := checkFile(info); err != nil {
		return err
	}
	newest, err := newestHeader(l.file)
	if err != nil {
		return err
	}
	l.transaction = newest.transaction
	return l.inPlace()
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

// check reads everything in the file and returns its head.
func check(tx *bolt.Tx) (h head, err error) {
	b := tx.Bucket(headBucket)
	if b == nil {
		return h, ErrNotLedger
	}
	if err := unseal(formatKey, b.Get(formatKey), &h); err != nil {
		return h, fmt.Errorf("format: %w: %w", ErrDamaged, err)
	}
	if h.Version < 1 || h.Version > formatVersion {
		return h, fmt.Errorf("%w: %w", ErrNotLedger, fl.Invalid("version", h.Version, "must be in [1, %d]", formatVersion))
	}
	if id, err := hex.DecodeString(h.ID); err != nil || len(id) != 16 {
		return h, fmt.Errorf("format: %w: %w", ErrDamaged, fl.Invalid("id", h.ID, "must be 32 hexadecimal digits"))
	}
	buckets := [][]byte{budgetBucket, entryBucket}
	if h.Version > 1 {
		buckets = append(buckets, keptBucket)
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return h, fmt.Errorf("bucket %q: %w: missing", name, ErrDamaged)
		}
	}
	if err := readAccounts(tx, map[string]*account{}); err != nil {
		return h, err
	}
	if h.Version > 1 {
		if err := checkKept(tx); err != nil {
			return h, err
		}
	}
	// Pages that are both free and in use would be overwritten.
	var found error
	for err := range tx.Check() { // to the end, or its goroutine never ends
		found = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return h, found
}
