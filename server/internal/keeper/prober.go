package keeper

import (
	"errors"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/server/journal"
)

// BetweenTries is how often a full journal is tried at most.
const BetweenTries = 100 * time.Millisecond

// Prober is a journal that remembers that it is full, and that it has failed. It is safe for concurrent use.
type Prober struct {
	journal.Journal
	failure
	key       []byte
	committed func(start time.Time, err error)

	mu    sync.Mutex
	full  error     // nil when there was room
	again time.Time // when to try anew
}

// NewProber returns a journal that writes nothing at key to find out whether there is room again.
// committed is told of each commit, when it began and how it ended; nil is not.
func NewProber(j journal.Journal, key string, committed func(start time.Time, err error)) *Prober {
	if committed == nil {
		committed = func(time.Time, error) {}
	}
	return &Prober{Journal: j, failure: failure{met: make(chan struct{})}, key: []byte(key), committed: committed}
}

// Commit implements journal.Journal.
func (p *Prober) Commit(b *journal.Batch) error {
	start := time.Now()
	err := p.Journal.Commit(b)
	p.committed(start, err)
	switch {
	case errors.Is(err, journal.ErrFull):
		p.mu.Lock()
		p.full, p.again = err, time.Now().Add(BetweenTries)
		p.mu.Unlock()
	case errors.Is(err, journal.ErrFailed):
		p.note(err)
	}
	return err
}

// Full returns an error while the journal is full, from the first commit on that it has refused. A
// commit that deletes says nothing about room.
func (p *Prober) Full() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full == nil {
		return nil
	}
	if now := time.Now(); now.After(p.again) {
		p.again = now.Add(BetweenTries)
		var probe journal.Batch
		probe.Put(p.key, nil)
		p.full = p.Journal.Commit(&probe)
	}
	return p.full
}

// Room implements journal.Roomy: it also knows of a disk that is full before anything was refused.
func (p *Prober) Room() error {
	if err := p.Full(); err != nil {
		return err
	}
	return journal.Room(p.Journal)
}
