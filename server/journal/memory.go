package journal

import (
	"bytes"
	"iter"
	"sync"

	"github.com/google/btree"
)

// Memory is a Journal that lives as long as the process. Use it for tests and for runs that
// nobody needs to continue.
type Memory struct {
	mu    sync.RWMutex
	pairs *btree.BTreeG[Pair]
}

// NewMemory returns an empty journal in memory.
func NewMemory() *Memory {
	return &Memory{pairs: btree.NewG(32, func(a, b Pair) bool { return bytes.Compare(a.Key, b.Key) < 0 })}
}

// Get implements Journal.
func (m *Memory) Get(key []byte) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	pair, ok := m.pairs.Get(Pair{Key: key})
	if !ok {
		return nil, ErrNotFound // no text about the key: for every new report it would be made in vain
	}
	return bytes.Clone(pair.Value), nil
}

// Commit implements Journal. It never fails.
func (m *Memory) Commit(b *Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range b.changes {
		if c.To == nil {
			m.pairs.ReplaceOrInsert(Pair{bytes.Clone(c.Key), append([]byte{}, c.Value...)})
			continue
		}
		var gone []Pair
		m.pairs.AscendRange(Pair{Key: c.Key}, Pair{Key: c.To}, func(p Pair) bool {
			gone = append(gone, p)
			return true
		})
		for _, p := range gone {
			m.pairs.Delete(p)
		}
	}
	return nil
}

// Scan implements Journal.
func (m *Memory) Scan(from, to []byte) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		var found []Pair // keys and values are never changed in place
		m.mu.RLock()
		m.pairs.AscendRange(Pair{Key: from}, Pair{Key: to}, func(p Pair) bool {
			found = append(found, p)
			return true
		})
		m.mu.RUnlock()
		for _, p := range found {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Close implements Journal.
func (m *Memory) Close() error { return nil }
