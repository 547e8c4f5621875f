package disk

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

const (
	// lookEvery is how long a look at the free space holds.
	lookEvery = 100 * time.Millisecond
	// grantBytes is how much may be written before the next look, and at least one batch.
	grantBytes = 16 << 20
)

// room watches the free space: of the disk, and inside the file.
type room struct {
	dir     string
	minFree int64
	free    func(dir string) (uint64, error)
	inside  func() int64
	missing func() int64 // of the reserve
	logger  *slog.Logger

	mu      sync.Mutex
	looked  time.Time
	granted int64 // bytes that may be written before the next look
	full    error // why there is no room, or nil
}

// take returns nil if n more bytes leave enough room, or an error that wraps journal.ErrFull.
func (r *room) take(n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := time.Since(r.looked) > lookEvery; old || r.full == nil && n > r.granted {
		r.look(n)
	}
	if r.full != nil {
		return r.full
	}
	if n > r.granted {
		return fmt.Errorf("%w: %w", journal.ErrFull, fl.Invalid("batch", n, "must be at most %d bytes, so that MinFree = %d stay free", r.granted, r.minFree))
	}
	r.granted -= n
	return nil
}

// look asks the disk about room for n bytes.
func (r *room) look(n int64) {
	left, full := r.measure()
	r.looked, r.granted = time.Now(), min(left, max(n, grantBytes))
	r.set(full)
}

// set notes why there is no room, or that there is.
func (r *room) set(full error) {
	switch {
	case r.full == nil && full != nil:
		r.logger.Error("journal: refuses what adds, since the disk is full", "error", full)
	case r.full != nil && full == nil:
		r.logger.Warn("journal: has room again", "bytes", r.granted)
	}
	r.full = full
}

// measure returns how many bytes there are to write, or why there are none.
func (r *room) measure() (left int64, full error) {
	free, err := r.free(r.dir)
	if err != nil {
		return 0, fmt.Errorf("%w: free space unknown: %w", journal.ErrFull, err)
	}
	if left = int64(min(free, 1<<62)) - r.minFree - r.missing() + r.inside(); left <= 0 {
		return 0, fmt.Errorf("%w: %w", journal.ErrFull, fl.Invalid("free bytes of the disk", free, "must be more than %d, the least that stays free", r.minFree))
	}
	return left, nil
}

// exhausted refuses what adds until the next look, after a write that found no room.
func (r *room) exhausted(cause error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.granted, r.looked = 0, time.Now()
	r.set(fmt.Errorf("%w: %w", journal.ErrFull, cause))
	return r.full
}

// check asks the disk, once in lookEvery, and returns why there is no room, or nil.
func (r *room) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) > lookEvery {
		r.look(1)
	}
	return r.full
}

// isFull says whether what adds was refused at the last look.
func (r *room) isFull() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full != nil
}
