package disk

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/internal/boltfile"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Errors of a journal on disk.
var (
	// ErrLocked is wrapped by the error of Open when another process uses the directory.
	ErrLocked = errors.New("disk: another process uses the journal")
	// ErrNotJournal is wrapped by the error of Open for a place that cannot hold a journal.
	ErrNotJournal = errors.New("disk: not a journal")
	// ErrDamaged is wrapped by errors about bytes that are not what was written.
	ErrDamaged = errors.New("disk: damaged journal")
	// ErrClosed is wrapped by all errors after Close.
	ErrClosed = errors.New("disk: closed journal")
)

// Journal is a journal.Journal in a directory.
type Journal struct {
	dir       string
	logger    *slog.Logger
	file      *boltfile.File
	pageBytes int64
	room      *room
	commits   commits
	reserve   reserve
	failure   atomic.Pointer[error]
	closed    atomic.Bool
}

var _ journal.Journal = (*Journal)(nil)

// usable returns nil while the journal can be read and written.
func (j *Journal) usable() error {
	if j.closed.Load() {
		return ErrClosed
	}
	if cause := j.failure.Load(); cause != nil {
		return fmt.Errorf("%w: %w", journal.ErrFailed, *cause)
	}
	return nil
}

// fail stops the journal, and returns why.
func (j *Journal) fail(cause error) error {
	if j.failure.CompareAndSwap(nil, &cause) {
		j.logger.Error("journal: refuses everything from now on", "error", cause)
	}
	return fmt.Errorf("%w: %w", journal.ErrFailed, cause)
}

// view reads with do, and notices damage.
func (j *Journal) view(do func(pairs *bolt.Bucket) error) error {
	if err := j.usable(); err != nil {
		return err
	}
	return kind.Guard(func() error {
		return j.file.View(func(tx *bolt.Tx) error { return do(tx.Bucket(pairsBucket)) })
	})
}

// Room implements journal.Roomy. Cost: a question to the file system, ten times in a second at most.
func (j *Journal) Room() error {
	if err := j.usable(); err != nil {
		return err
	}
	return j.room.check()
}

// inside returns how many bytes of the file hold nothing.
func (j *Journal) inside() int64 {
	s := j.file.Stats()
	return int64(s.FreePageN+s.PendingPageN) * j.pageBytes
}

// Get implements journal.Journal. Cost: a search in a tree of pages that are mapped into memory.
func (j *Journal) Get(key []byte) (value []byte, err error) {
	return value, j.view(func(pairs *bolt.Bucket) error {
		sealed := pairs.Get(key)
		if sealed == nil {
			return journal.ErrNotFound // as in memory, without the key
		}
		found, err := unseal(key, sealed)
		value = append([]byte{}, found...)
		return err
	})
}

// chunkBytes is how much of the journal a loop over Scan holds, and at least one pair.
const chunkBytes = 256 << 10

// Scan implements journal.Journal. The loop holds copies of 256 KiB, or of one pair that is larger,
// and no lock.
func (j *Journal) Scan(from, to []byte) iter.Seq2[journal.Pair, error] {
	return func(yield func(journal.Pair, error) bool) {
		for next := bytes.Clone(from); next != nil; {
			chunk, after, err := j.chunk(next, to)
			for _, pair := range chunk {
				if !yield(pair, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Pair{}, err)
				return
			}
			next = after
		}
	}
}

// chunk returns pairs with keys in [from, to), and the first key after them that may have a value.
func (j *Journal) chunk(from, to []byte) (chunk []journal.Pair, after []byte, err error) {
	err = j.view(func(pairs *bolt.Bucket) error {
		c, size := pairs.Cursor(), 0
		for key, sealed := c.Seek(from); key != nil && bytes.Compare(key, to) < 0; key, sealed = c.Next() {
			if size > 0 && size+len(sealed) > chunkBytes {
				after = bytes.Clone(key)
				return nil
			}
			value, err := unseal(key, sealed)
			if err != nil {
				return err
			}
			size += len(key) + len(sealed)
			chunk = append(chunk, journal.Pair{Key: bytes.Clone(key), Value: bytes.Clone(value)})
		}
		return nil
	})
	return chunk, after, err
}

// Close implements journal.Journal. Nothing is lost without Close.
func (j *Journal) Close() error {
	if j.closed.Swap(true) {
		return nil
	}
	return j.file.Close()
}
