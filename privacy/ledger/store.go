package ledger

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	bolt "go.etcd.io/bbolt"
)

// The file holds four buckets. Entries are never deleted, so their keys are
// 1, 2, …, up to the bucket's sequence. What an entry keeps is deleted when it ends.
var (
	headBucket   = []byte("hushgrad ledger") // formatKey -> head
	budgetBucket = []byte("budgets")         // purpose -> ExportedBudget
	entryBucket  = []byte("entries")         // ID, 8 bytes, big endian -> storedEntry
	keptBucket   = []byte("kept")            // ID of an entry that has not ended -> bytes, as they are

	formatKey = []byte("format")
)

// formatVersion is the version of the file. Files of version 1, in which entries keep nothing, of
// version 2, in which nothing is central, and of version 3, in which what is kept is JSON, are brought up to date
// when they are opened.
const formatVersion = 4

type head struct {
	Version int `json:"version"`
	// ID is drawn when the ledger is made: 32 hexadecimal digits. A copy has the same.
	ID string `json:"id"`
}

// initialise writes the head of a new ledger.
func initialise(tx *bolt.Tx) error {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	for _, name := range [][]byte{headBucket, budgetBucket, entryBucket, keptBucket} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return put(tx.Bucket(headBucket), formatKey, head{formatVersion, hex.EncodeToString(id[:])})
}

// upgrade brings a ledger of an older version up to date.
func (l *Ledger) upgrade(h head) error {
	if h.Version == formatVersion {
		return nil
	}
	return l.update(func(tx *bolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists(keptBucket); err != nil {
			return err
		}
		if err := upgradeKept(tx); err != nil {
			return err
		}
		return put(tx.Bucket(headBucket), formatKey, head{formatVersion, h.ID})
	})
}

func put(b *bolt.Bucket, key []byte, record any) error {
	sealed, err := seal(key, record)
	if err != nil {
		return err
	}
	return b.Put(key, sealed)
}

func (id ID) key() []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

func putEntry(tx *bolt.Tx, e Entry) error {
	return put(tx.Bucket(entryBucket), e.ID.key(), storedEntry{e.Charge.Purpose, e.exported()})
}

// getEntry returns an entry, or an error that wraps ErrUnknown.
func getEntry(tx *bolt.Tx, id ID) (Entry, error) {
	sealed := tx.Bucket(entryBucket).Get(id.key())
	if sealed == nil {
		return Entry{}, fmt.Errorf("entry %v: %w", id, ErrUnknown)
	}
	return decodeEntry(id, sealed)
}

func decodeEntry(id ID, sealed []byte) (Entry, error) {
	var s storedEntry
	if err := unseal(id.key(), sealed, &s); err != nil {
		return Entry{}, fmt.Errorf("entry %v: %w: %w", id, ErrDamaged, err)
	}
	e, err := s.entry(s.Purpose)
	if err != nil {
		return Entry{}, fmt.Errorf("entry %v: %w: %w", id, ErrDamaged, err)
	}
	return e, nil
}

// eachEntry calls do for all entries in the order of their ids, and checks that none is missing.
func eachEntry(tx *bolt.Tx, do func(Entry) error) error {
	b := tx.Bucket(entryBucket)
	id := ID(0)
	err := b.ForEach(func(key, sealed []byte) error {
		if id++; string(key) != string(id.key()) {
			return fmt.Errorf("entry %v: %w: missing", id, ErrDamaged)
		}
		e, err := decodeEntry(id, sealed)
		if err != nil {
			return err
		}
		return do(e)
	})
	if err == nil && uint64(id) != b.Sequence() {
		return fmt.Errorf("%w: %w", ErrDamaged, fl.Invalid("entries", id, "must be %d, the last number given out", b.Sequence()))
	}
	return err
}

func decodeBudgets(purpose string, sealed []byte) (budgets, error) {
	var x ExportedBudget
	if err := unseal([]byte(purpose), sealed, &x); err != nil {
		return budgets{}, fmt.Errorf("budget %q: %w: %w", purpose, ErrDamaged, err)
	}
	b, err := x.budgets()
	if err != nil {
		return budgets{}, fmt.Errorf("budget %q: %w: %w", purpose, ErrDamaged, err)
	}
	return b, nil
}

// update runs do in a transaction that is on disk, in the file at the ledger's path, when update
// returns nil.
func (l *Ledger) update(do func(*bolt.Tx) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(); err != nil {
		return err
	}
	tx, err := l.file.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := do(tx); err != nil {
		return err
	}
	transaction := uint64(tx.ID())
	if err := tx.Commit(); err != nil {
		// The write may have reached the disk or not, and a later sync may report success
		// for pages that the system has dropped.
		l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		return l.failed
	}
	l.transaction = transaction
	if err := l.count(); err != nil {
		l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		return l.failed
	}
	return l.ready() // nobody moved the file away before the commit
}

// ready returns nil if the ledger can be used: no write has failed, and its file is in place. A
// file that was replaced stays so: what another process did meanwhile is not known.
func (l *Ledger) ready() error {
	if l.failed != nil {
		return l.failed
	}
	err := l.inPlace()
	if errors.Is(err, ErrReplaced) {
		l.failed = err
	}
	return err
}

// view runs do in a transaction that cannot write.
func (l *Ledger) view(do func(*bolt.Tx) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(); err != nil {
		return err
	}
	return l.file.View(do)
}
