package keeper

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/hushgrad/hushgrad/server/journal"
)

// ErrFailed is wrapped by all errors after a write to the journal that may have failed.
var ErrFailed = errors.New("the journal could not be written")

// Stopper is a journal to which nothing is written after an error of which it is unknown what was
// written. It is safe for concurrent use.
type Stopper struct {
	journal.Journal
	logger  *slog.Logger
	failure atomic.Pointer[error]
	failed  chan struct{} // closed with the first failure
}

// NewStopper returns a journal that has not failed. The logger receives the first failure.
func NewStopper(j journal.Journal, logger *slog.Logger) *Stopper {
	return &Stopper{Journal: j, logger: logger, failed: make(chan struct{})}
}

// Commit implements journal.Journal.
func (s *Stopper) Commit(b *journal.Batch) error {
	if err := s.Broken(); err != nil {
		return err
	}
	err := s.Journal.Commit(b)
	if err == nil || errors.Is(err, journal.ErrFull) {
		return err
	}
	err = fmt.Errorf("%w: %w", ErrFailed, err)
	if s.failure.CompareAndSwap(nil, &err) {
		s.logger.Error("the journal could not be written", "error", err)
		close(s.failed)
	}
	return err
}

// Broken returns the first failure, and nil if there was none.
func (s *Stopper) Broken() error {
	if failure := s.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// Failed returns a channel that is closed with the first failure.
func (s *Stopper) Failed() <-chan struct{} { return s.failed }

// Room implements journal.Roomy.
func (s *Stopper) Room() error {
	if err := s.Broken(); err != nil {
		return err
	}
	return journal.Room(s.Journal)
}
