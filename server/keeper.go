package server

import (
	"errors"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/server/journal"
)

// keeper is the server's journal. It remembers that the journal is full, so that reports are
// refused before they are counted and not after.
type keeper struct {
	journal.Journal
	metrics *metrics

	mu    sync.Mutex
	full  error     // nil when there was room
	again time.Time // when to try anew
}

// betweenTries is how often a full journal is tried.
const betweenTries = 100 * time.Millisecond

// commit is Commit.
func (k *keeper) commit(b *journal.Batch) error {
	start := time.Now()
	err := k.Commit(b)
	k.metrics.committed(start, err)
	if errors.Is(err, journal.ErrFull) {
		k.mu.Lock()
		k.full, k.again = err, time.Now().Add(betweenTries)
		k.mu.Unlock()
	}
	return err
}

// ready returns an error while the journal is full, from the first commit on that it has refused.
func (k *keeper) ready() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.full == nil {
		return nil
	}
	if now := time.Now(); now.After(k.again) {
		k.again = now.Add(betweenTries)
		var probe journal.Batch
		probe.Put([]byte("server/probe"), nil)
		k.full = k.Commit(&probe)
	}
	return k.full
}
