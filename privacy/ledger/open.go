package ledger

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/boltfile"
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
		if err := kind.Create(path, timeout); err != nil {
			return nil, err
		}
	case err != nil:
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
		return nil, errors.Join(err, l.file.Close())
	}
	return l, nil
}

// kind is what is common to all files of bbolt that must not forget a step.
var kind = boltfile.Kind{
	Locked: ErrLocked, Foreign: ErrNotLedger, Damaged: ErrDamaged,
	Initialise: initialise,
	Check:      func(tx *bolt.Tx) error { _, err := check(tx); return err },
	Options:    bolt.Options{NoStatistics: true},
}

// open opens a file, notes how far it has come, and returns its head.
func (l *Ledger) open(timeout time.Duration) (h head, err error) {
	if l.file, err = kind.Open(l.path, timeout); err != nil {
		return h, err
	}
	newest, err := kind.Newest(l.file.Descriptor)
	if err == nil {
		l.transaction = newest.Transaction
		err = l.inPlace()
	}
	if err == nil {
		err = l.file.View(func(tx *bolt.Tx) error { return unseal(formatKey, tx.Bucket(headBucket).Get(formatKey), &h) })
	}
	if err != nil {
		return h, errors.Join(err, l.file.Close())
	}
	l.id = h.ID
	return h, nil
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
		err = checkKept(tx)
	}
	return h, err
}
