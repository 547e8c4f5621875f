package journal

import (
	"errors"
	"iter"
)

// Journal is an ordered map whose changes are atomic and durable. It is safe for concurrent
// use. Keys are in the order of bytes.Compare.
type Journal interface {
	// Get returns the value at key, which is the caller's, or an error that wraps ErrNotFound.
	Get(key []byte) ([]byte, error)
	// Commit makes all changes of a batch, in their order, or none of them. It may be called
	// from many goroutines, whose batches then share one write to disk. An error that wraps
	// ErrFull means that nothing was written and that it may be tried again later. After any
	// other error it is unknown what was written: open the journal anew. After one that wraps
	// ErrFailed no call works any more.
	Commit(b *Batch) error
	// Scan returns the pairs with a key in [from, to), in order. A pair that is put or deleted
	// while the loop runs may be seen or not. The loop may call the journal. The slices are valid
	// until the loop goes on. A pair with an error is the last.
	Scan(from, to []byte) iter.Seq2[Pair, error]
	// Close ends the use of the journal. No other call may be in progress.
	Close() error
}

// Pair is a key with its value.
type Pair struct{ Key, Value []byte }

var (
	// ErrNotFound is wrapped by the error of Get for a key without a value.
	ErrNotFound = errors.New("journal: no such key")
	// ErrFull is wrapped by the error of Commit when there is too little room left.
	ErrFull = errors.New("journal: no room left")
	// ErrFailed is wrapped by all errors of a journal that stopped after an error. Open it anew.
	ErrFailed = errors.New("journal: stopped after an error")
)

// Roomy is a Journal that can find out whether it has room without writing.
type Roomy interface {
	// Room returns nil, or why Commit refuses what adds: an error that wraps ErrFull.
	Room() error
}

// Room returns the Room of a journal that is Roomy, and nil for any other.
func Room(j Journal) error {
	if r, ok := j.(Roomy); ok {
		return r.Room()
	}
	return nil
}

// After returns the first key after all keys that begin with prefix: with it, [prefix,
// After(prefix)) are the keys below prefix. prefix has a byte that is not 255.
func After(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	panic("journal: no key comes after a prefix of 255s")
}

// Batch is a list of changes that are made together. The zero value is an empty batch. It
// keeps the slices that it is given, which must not change before Commit returns.
type Batch struct{ changes []Change }

// Change is one change of a batch: the value at Key becomes Value, or, when To is not nil, all
// keys in [Key, To) lose their values.
type Change struct{ Key, Value, To []byte }

// Put sets the value at key, which must not be empty.
func (b *Batch) Put(key, value []byte) { b.changes = append(b.changes, Change{Key: key, Value: value}) }

// Delete removes the keys in [from, to) with their values. to must not be empty.
func (b *Batch) Delete(from, to []byte) { b.changes = append(b.changes, Change{Key: from, To: to}) }

// Changes returns the changes in their order.
func (b *Batch) Changes() []Change { return b.changes }

// Bytes is the length of all keys and values.
func (b *Batch) Bytes() int {
	n := 0
	for _, c := range b.changes {
		n += len(c.Key) + len(c.Value) + len(c.To)
	}
	return n
}
