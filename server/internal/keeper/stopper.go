package keeper

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/hushgrad/hushgrad/server/journal"
)

// Stopper is a journal to which nothing is written after an error of which it is unknown what was
// written. All errors from then on wrap journal.ErrFailed. It is safe for concurrent use.
type Stopper struct {
	journal.Journal
	failure
	logger *slog.Logger
}

// NewStopper returns a journal that has not failed. The logger receives the first failure.
func NewStopper(j journal.Journal, logger *slog.Logger) *Stopper {
	return &Stopper{Journal: j, failure: failure{met: make(chan struct{})}, logger: logger}
}

// Commit implements journal.Journal.
func (s *Stopper) Commit(b *journal.Batch) error {
	if err := s.Broken(); err != nil {
		return err
	}
	err := s.Journal.Commit(b)
	switch {
	case err == nil || errors.Is(err, journal.ErrFull):
		return err
	case !errors.Is(err, journal.ErrFailed):
		err = fmt.Errorf("%w: %w", journal.ErrFailed, err)
	}
	if s.note(err) {
		s.logger.Error("the journal could not be written", "error", err)
	}
	return err
}

// Room implements journal.Roomy.
func (s *Stopper) Room() error {
	if err := s.Broken(); err != nil {
		return err
	}
	return journal.Room(s.Journal)
}
