package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

const (
	// maxBatchBytes bounds a batch, which is in memory as a whole: a model of 1 GiB and its key.
	maxBatchBytes = 1<<30 + 64<<10
	// flushDelay is how long a deletion may wait before the room that it makes is looked for.
	flushDelay = 10 * time.Second
)

// Errors of a journal on disk.
var (
	// ErrLocked is wrapped by the error of Open when another process uses the directory.
	ErrLocked = errors.New("disk: another process uses the journal")
	// ErrNotJournal is wrapped by the error of Open for a place that cannot hold a journal.
	ErrNotJournal = errors.New("disk: not a journal")
	// ErrDamaged is wrapped by errors about bytes that are not what was written.
	ErrDamaged = errors.New("disk: damaged journal")
	// ErrFailed is wrapped by all errors after the disk failed. Open the journal anew.
	ErrFailed = errors.New("disk: the journal stopped after an error")
	// ErrClosed is wrapped by all errors after Close.
	ErrClosed = errors.New("disk: closed journal")
)

// Journal is a journal.Journal in a directory.
type Journal struct {
	dir     string
	options Options
	db      *pebble.DB
	lock    io.Closer
	room    *room
	sums    *sums
	failure *failure
	closed  atomic.Bool
}

var _ journal.Journal = (*Journal)(nil)

// usable returns nil while the journal can be read and written.
func (j *Journal) usable() error {
	if j.closed.Load() {
		return ErrClosed
	}
	return j.failure.err()
}

// Room implements journal.Roomy. Cost: a question to the file system, ten times in a second at most.
func (j *Journal) Room() error {
	if err := j.usable(); err != nil {
		return err
	}
	return j.room.check()
}

// Get implements journal.Journal. Cost: a read of at most one block of a table for a key with a
// value, and nearly always none for a key without one.
func (j *Journal) Get(key []byte) ([]byte, error) {
	if err := j.usable(); err != nil {
		return nil, err
	}
	value, done, err := j.db.Get(key)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return nil, journal.ErrNotFound // as in memory, without the key
	case err != nil:
		return nil, readError(err)
	}
	return append([]byte{}, value...), done.Close()
}

// Commit implements journal.Journal. It returns after the operating system has said that the
// batch is on disk. Commits that come at the same time share one such wait. A batch that only
// deletes is accepted on a full disk, too. Limit: 1 GiB. Cost: one fsync, shared.
func (j *Journal) Commit(b *journal.Batch) error {
	if err := j.usable(); err != nil {
		return err
	}
	adds := false
	for _, c := range b.Changes() {
		if len(c.Key) == 0 && c.To == nil {
			return fl.Invalid("key", "", "must not be empty")
		}
		adds = adds || c.To == nil
	}
	switch size := int64(b.Bytes()); {
	case len(b.Changes()) == 0:
		return nil
	case size > maxBatchBytes:
		return fl.Invalid("batch", size, "must be at most %d bytes", maxBatchBytes)
	case adds:
		if err := j.room.take(2 * size); err != nil { // once in the log and once in a table
			return err
		}
	}
	return j.write(b)
}

// write gives a batch to the engine and waits for the disk. The engine panics on some failures and
// keeps its locks, so that a caller who recovers would wait for ever.
func (j *Journal) write(b *journal.Batch) error {
	defer func() {
		if r := recover(); r != nil {
			j.failure.Fatalf("%v", r)
			panic(r)
		}
	}()
	const head = 16 // bytes of the engine around a pair, at most
	batch := j.db.NewBatchWithSize(b.Bytes() + head*(1+len(b.Changes())))
	defer batch.Close()
	for _, c := range b.Changes() {
		var err error
		switch {
		case c.To == nil:
			err = batch.Set(c.Key, c.Value, nil)
		case bytes.Compare(c.Key, c.To) < 0:
			err = batch.DeleteRange(c.Key, c.To, nil)
		}
		if err != nil {
			return err
		}
	}
	return batch.Commit(pebble.Sync)
}

// Scan implements journal.Journal. What is deleted while the loop runs keeps its room on disk
// until the loop ends.
func (j *Journal) Scan(from, to []byte) iter.Seq2[journal.Pair, error] {
	return func(yield func(journal.Pair, error) bool) {
		if bytes.Compare(from, to) >= 0 {
			return
		}
		if err := j.usable(); err != nil {
			yield(journal.Pair{}, err)
			return
		}
		it, err := j.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
		if err != nil {
			yield(journal.Pair{}, readError(err))
			return
		}
		defer it.Close()
		for it.First(); it.Valid(); it.Next() {
			value, err := it.ValueAndErr()
			if err != nil {
				yield(journal.Pair{}, readError(err))
				return
			}
			if !yield(journal.Pair{Key: it.Key(), Value: value}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(journal.Pair{}, readError(err))
		}
	}
}

// readError names damage as such. A file that the engine needs and does not find is damage, too.
func readError(err error) error {
	if pebble.IsCorruptionError(err) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// Close implements journal.Journal. It moves everything from the log to tables, so that the next
// Open has nothing to read again. Nothing is lost without Close.
func (j *Journal) Close() error {
	if j.closed.Swap(true) {
		return nil
	}
	var err error
	if j.failure.err() == nil {
		err = j.db.Flush()
	}
	return errors.Join(err, j.db.Close(), j.sums.file.Close(), j.lock.Close())
}
